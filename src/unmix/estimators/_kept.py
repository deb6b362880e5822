"""What every estimator offers once it is fitted, whatever it is made of: findings, and a file."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from unmix._findings import Findings, read_findings
from unmix._verdicts import recall


class Kept:
    """A fitted estimator that says what it found and can be saved."""

    needs_domains: ClassVar[bool] = False  # to fit: the domain of each sample

    def _repr_html_(self) -> str:
        """Show the settings as scikit-learn does, and the last verdict where there is one."""
        found = recall(self)
        return estimator_html_repr(self) + ("" if found is None else found._repr_html_())

    def findings(self) -> Findings:
        """Return what was found, as reports, commands and `unmix.theory.explain` read it.

        `description` is what `unmix.describe` last said of the model: what each latent stands for.
        """
        check_is_fitted(self)
        return replace(read_findings(self), description=recall(self, "description"))

    def save(self, path: Any) -> Path:
        """Write the fitted model to one file, without pickle; `unmix.load` reads it."""
        from ._storage import save

        check_is_fitted(self)
        return save(self, path)
