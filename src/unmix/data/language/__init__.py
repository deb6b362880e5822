"""Language models: read from a folder or a package, run on texts, and looked into at named sites."""

from ._collect import collect_activations
from ._loss import SplicedLosses, spliced_losses
from ._model import LanguageModel, read_language_model
from ._sites import SITES, Site, site_named
