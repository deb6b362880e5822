"""From a fitted model and its data to one HTML file."""

import base64
import hashlib
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .._files import atomic_write
from .._version import __version__
from ._image_material import ImageMaterial, seen
from ._image_page import image_page
from ._page import page
from ._sections import linked

SCRIPT = "page"  # of every page: tables are sorted, links open what they point into
_TEMPLATES = Environment(
    loader=PackageLoader("unmix.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def breakable(text: str) -> Markup:
    """Let a long name wrap after the signs that join its words.

    >>> breakable("a_b<")
    Markup('a_<wbr>b&lt;')
    """
    return Markup("<wbr>").join(re.split(r"(?<=[_.\-/])", text))


_TEMPLATES.filters |= {"breakable": breakable, "linked": linked}


def write(
    path: str | Path,
    *,
    model: Any = None,
    data: Any = None,
    evaluation: Any = None,
    certificate: Any = None,
    graph: Any = None,
    trust: Any = "none",
    domains: Any = None,
    metadata: Any = None,
    ids: Any = None,
    groups: Any = None,
    held_out: Any = None,
    title: str = "What was recovered, and what can be trusted",
    notes: str = "",
) -> Path:
    """Write one self-contained HTML page about a fit.

    Headline, colour and badges follow from the verdict of `unmix.trust`, and from nothing else. What is not
    given is worked out where possible: the verdict from `model` and its data, what the structure would
    identify if it is right by `unmix.theory.explain`, the scores from `model` and a dataset that knows its
    true latents. Every string is escaped.

    Parameters
    ----------
    path : str or Path
        Where to write; its folder must exist. Written atomically.
    model : fitted estimator, optional
        With `transform`, `structure_` and, where it has them, `history_`, `restarts_` and `jacobian`.
    data : LatentDataset, FactorDataset, table of shape (n_samples, n_observed), or images, optional
        The data: an array, or a path, data frame, AnnData object or table of `unmix.tables`, which bring
        other columns and ids. A LatentDataset with `z` also brings the truth to compare with. Images of
        shape (n_samples, height, width, channels), alone, in a FactorDataset, or as a path that
        `unmix.data.read_images` takes, give a page of pictures.
    evaluation : Evaluation, optional
        As returned by `unmix.metrics.evaluate`; give it `x=` so that raw x stands beside the scores.
    certificate : StructureCertificate, MixtureCertificate or Explanation, optional
        As returned by `unmix.theory.certify`, by `certify_components` for a mixture, or by `explain` from all
        that is known.
    graph : array of shape (n_latents, n_latents), optional
        Causal graph of the latents, as `unmix.estimators.causal_graph` returns; shown with its distance from
        the truth where the data bring a `graph` of their own.
    trust : Trust, or {"none", "quick", "full"}
        The verdict, as `unmix.trust` returned it, or the effort at which it is to be found.
    domains : array-like of shape (n_samples,), optional
        The domain of each row, for a verdict on a model that was fitted with domains; by default `data.u`.
    metadata, ids, groups : optional
        Other columns of the same rows, names of the rows, and sets of observed variables, as
        `unmix.describe` takes them: the page says what each latent stands for.
    held_out : images, optional
        Of a model of images: others that the fit has not seen, to tell how well it holds for them.
    title, notes : str
        The heading, and free text (blank lines separate paragraphs).

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.structure import Structure
    >>> from unmix.theory import certify
    >>> certificate = certify(Structure([[1, 0], [1, 1], [0, 1]]))
    >>> path = write(tempfile.mkdtemp() + "/report.html", certificate=certificate)
    >>> "If this structure is right, all 2 latents would be identified alone" in path.read_text()
    True
    """
    if model is None and evaluation is None and certificate is None:
        raise ValueError(
            "`write` must be given a `model`, an `evaluation` or a `certificate`, got none of them."
        )
    if model is not None and (images := seen(data, ids)) is not None:
        unseen = None if held_out is None else seen(held_out)
        material = ImageMaterial(model, images, trust=trust, held_out=unseen, evaluation=evaluation)
        return render(path, "images.html", title=title, notes=notes, **image_page(material))
    if type(model).__name__ == "SparseAutoencoder":
        return _features(path, model, data, trust=trust, ids=ids, title=title, notes=notes)
    given = {"evaluation": evaluation, "certificate": certificate, "trust": trust, "domains": domains}
    beside = {"metadata": metadata, "ids": ids, "groups": groups}
    context = page(model=model, data=data, graph=graph, **given, **beside)
    return render(path, "report.html", title=title, notes=notes, **context)


def _features(path: str | Path, model: Any, data: Any, *, trust: Any, **told: Any) -> Path:
    """Write the page of a sparse autoencoder, whose features are too many for a page of latents."""
    from ..evidence import trust as judge
    from ._features import features

    if data is None:
        raise ValueError(
            "`data` must be the activations to show features on, got None. Pass a store or array."
        )
    verdict = judge(model, data, effort=trust) if isinstance(trust, str) else trust
    return features(path, model, getattr(data, "x", data), trust=verdict, **told)


def render(path: str | Path, template: str, *, title: str, notes: str, **context: Any) -> Path:
    """Fill a template of this room, and write the page."""
    paragraphs = [part.strip() for part in notes.split("\n\n") if part.strip()]
    return atomic_write(Path(path), filled(template, title=title, notes=paragraphs, **context))


def filled(template: str, *, scripts: Sequence[Sequence[str]] = ((SCRIPT,),), **context: Any) -> str:
    """Fill a template of this room, with the style, the scripts and the versions that every page has."""
    css = Markup(_TEMPLATES.get_template("style.css").render())  # noqa: S704  our own file
    own: dict[str, Any] = {"css": css, "version": __version__, "versions": _versions()}
    own["scripts"] = [script_of(*names) for names in scripts]
    return _TEMPLATES.get_template(template).render(**own, **context)


def script_of(*names: str) -> dict[str, Any]:
    """Return files of ours as one script, without data, and the digest by which the page allows it."""
    text = "".join(_TEMPLATES.get_template(f"{name}.js").render() for name in names)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"text": Markup(text), "digest": digest}  # noqa: S704


def _versions() -> str:
    """Name what the numbers were made with; torch only where a model brought it along."""
    torch = sys.modules.get("torch")
    parts = (f"unmix {__version__}", f"Python {platform.python_version()}", f"numpy {np.__version__}")
    return ", ".join(parts if torch is None else (*parts, f"torch {torch.__version__}"))
