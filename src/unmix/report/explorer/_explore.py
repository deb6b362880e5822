"""`explore`: one page to look around in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._image_material import seen
from ._activations import of_activations
from ._cells import is_cells
from ._images import of_images
from ._page import Explorer
from ._tables import of_table

TITLE = "What was recovered: look around"


def explore(path: str | Path, *, model: Any, data: Any, **known: Any) -> Path:
    """Write one self-contained HTML page in which latents can be looked at from all sides.

    Latents are rows, sorted by trust. Each has its verdict and the reasons for it, the variables, pixels or
    tokens that it moves, its most and least active examples, its histogram by any other column, its
    neighbours, and its counterparts in other runs. Any two columns can be drawn against each other; a part of
    that plane filters everything else, and can be exported. The page opens from a folder and asks nothing of
    a network. Every string is escaped.

    Parameters
    ----------
    path : str or Path
        Where to write; its folder must exist. Written atomically.
    model, data
        As for `unmix.report.write`: a table, images, or activations for a sparse autoencoder.
    **known
        What `explorer` takes.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import unmix
    >>> x = np.random.default_rng(0).laplace(size=(300, 4)) @ np.random.default_rng(1).normal(size=(4, 6))
    >>> model = unmix.FastICA(4, random_state=0).fit(x)
    >>> page = explore(tempfile.mkdtemp() + "/explorer.html", model=model, data=x)
    >>> page.stat().st_size < 200_000
    True
    """
    return explorer(model=model, data=data, **known).write(path)


def explorer(
    *,
    model: Any,
    data: Any,
    others: Mapping[str, Any] | None = None,
    trust: Any = "none",
    domains: Any = None,
    metadata: Any = None,
    ids: Any = None,
    groups: Any = None,
    cells: Any = None,
    title: str = TITLE,
    whole: bool = False,
) -> Explorer:
    """Gather what an explorer shows.

    Parameters
    ----------
    model, data, trust, domains, metadata, ids, groups, title
        As for `unmix.report.write`.
    others : mapping of str to fitted estimators, optional
        Other models of the same table, by name, to find latents again in.
    cells : AnnData, optional
        The object that the rows come from, for the maps in its `obsm`; by default `data` where it is one.
    whole : bool
        Whether to keep all rows and variables, for a page that is served; a file holds some 8 MB of them.

    Returns
    -------
    Explorer
    """
    others = {} if others is None else dict(others)
    images = seen(data, ids) if model is not None else None
    sparse = type(model).__name__ == "SparseAutoencoder"
    if others and (images is not None or sparse):
        raise ValueError(
            "`others` must be left out for images and activations. Compare them by `unmix compare`."
        )
    if images is not None:
        return of_images(model, images, trust=trust, title=title)
    if sparse:
        return of_activations(
            model, getattr(data, "x", data), trust=_judged(model, data, trust), title=title, ids=ids
        )
    known = {"domains": domains, "metadata": metadata, "ids": ids, "groups": groups}
    known["cells"] = data if cells is None and is_cells(data) else cells
    return of_table(model, data, trust=trust, others=others, title=title, whole=whole, **known)


def _judged(model: Any, data: Any, trust: Any) -> Any:
    """Return the verdict that was given, or that an effort finds."""
    from ...evidence import trust as judge

    return judge(model, data, effort=trust) if isinstance(trust, str) else trust
