"""`unmix fit` of images: an autoencoder of some kind, or one with independent components behind it."""

import shlex
from pathlib import Path
from typing import Any

from .._findings import domain_specific, findings_of, told_changes
from ._images import domains_of, first_of, networks, read
from ._models import checkpoint_beside, checkpointed, forget_checkpoint, kind_of, save_or_rescue
from ._output import print_json, tell
from ._verdict import short, warn

BOTH = "ae+ica"  # the only method that is two
PASSES = 50
_OWN = ("EncDiff", "DisCo")  # have defaults for images, and decoders of their own
_OF_TABLES = ("weight", "slots", "features", "drop", "id", "variable_sets", "layer", "obsm")


def fit_images(given: Any, report: Path | None) -> None:
    """Fit a model of images, save it, and say which of its latents can be trusted."""
    _refuse_what_is_for_tables(given)
    data = read(given.x, "X")
    model = _model(given, data.images.shape[1:])
    labels = domains_of(given.domains, model, data)
    if given.fresh:
        forget_checkpoint(checkpoint_beside(given.out))
    with checkpointed(first_of(model), given.out) as checkpoint:
        model.fit(data.images, **({} if labels is None else {"domains": labels}))
    save_or_rescue(model, given.out)
    forget_checkpoint(checkpoint)
    _tell(given, model, data, report, labels)


def _tell(given: Any, model: Any, data: Any, report: Path | None, labels: Any) -> None:
    from ..report._image_material import judged

    trust, reason = judged(model, data, given.effort, labels)
    if report is not None:
        from ..report import write

        write(report, model=model, data=data, trust=given.effort.value if trust is None else trust)
    warn(reason)
    found = findings_of(first_of(model))
    if given.as_json:
        told = {"out": given.out, "trust": None if trust is None else trust.to_dict(), "report": report}
        changing = domain_specific(model)
        told |= {} if changing is None else {"domain_specific": changing}
        print_json(told | found.to_dict() | {"method": _name(model)})
    else:
        domains = "" if given.domains is None else f" --domains {shlex.quote(given.domains)}"
        look = f"To look at it: unmix show {given.out} --data {given.x}{domains} --out pictures"
        pages = [] if report is None else [f"Report: {report}"]
        fit = f"{_name(model)}: {found.n_components} latents of images, after {found.n_iter} passes."
        changes = told_changes(model)
        tell(fit, *([changes] if changes else []), *short(trust), "", f"Model: {given.out}", *pages, look)


def _model(given: Any, shape: tuple[int, ...]) -> Any:
    """Make the estimator that was asked for, not fitted."""
    both = given.method == BOTH
    kind = kind_of("ae" if both else given.method)
    if not _takes_images(kind):
        raise ValueError(f"`--method` must be one that takes images, {_takers()}, got {given.method.value}.")
    if given.n_components is None:
        raise ValueError("`--n-components` must be given for images, got nothing. Twelve are a good start.")
    model = _made(kind, given)
    if given.preset is None:
        fitting, own = networks(shape), _plays(kind) or kind.__name__ in _OWN
        known = {name: factory for name, factory in fitting.items() if name == "encoder" or not own}
        model.set_params(max_iter=PASSES, max_steps=None, **known)
    asked = {"max_iter": given.max_iter, "n_restarts": given.n_restarts, "device": given.device}
    model.set_params(**{name: value for name, value in asked.items() if value is not None})
    model.set_params(random_state=given.random_state)
    if given.samples is not None:
        model.set_params(samples=_watched(model, given))
    if given.generator is not None:
        model.set_params(generator=_generator(model, given))
    return _with_components(model, given) if both else model


def _made(kind: Any, given: Any) -> Any:
    if _plays(kind):
        if given.preset is not None:
            raise ValueError(f"`--preset` must be left out for {given.method.value}, which has no recipe.")
        return kind(given.n_components)
    if kind.__name__ in _OWN and given.preset is None:
        return kind(given.n_components)
    try:
        return kind.preset(_recipe(kind, given.preset), n_components=given.n_components)
    except ValueError as error:
        raise ValueError(str(error).replace("`name`", "`--preset`", 1)) from error


def _watched(model: Any, given: Any) -> Path:
    """Return the folder for pictures of samples, of a model that draws some while it trains."""
    if "samples" not in model.get_params():
        raise ValueError(
            f"`--samples` must be left out for {given.method.value}, which draws nothing while it trains. "
            "Look at it afterwards: unmix show."
        )
    return Path(given.samples)


def _generator(model: Any, given: Any) -> Path:
    """Return the file of a model that makes images, for a method that is given one."""
    if "generator" not in model.get_params():
        raise ValueError(f"`--generator` must be left out for {given.method.value}, which has its own.")
    if not given.generator.is_file():
        raise ValueError(f"`--generator` must be a file that exists, got {str(given.generator)!r}.")
    return Path(given.generator)


def _with_components(model: Any, given: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    from ..estimators import FastICA

    return make_pipeline(model, FastICA(given.n_components, random_state=given.random_state))


def _plays(kind: Any) -> bool:
    """Whether an estimator is a game of networks, which has a generator of its own and no recipe."""
    from ..estimators._game import GameEstimator

    return issubclass(kind, GameEstimator)


def _recipe(kind: Any, asked: str | None) -> str:
    """Return the recipe whose settings are taken: the one asked for, or the first that the estimator has."""
    return asked or ("locatello2019" if kind.__name__ == "FactorVAE" else "hsu2023")


def _takers() -> str:
    from .._names import COMMANDS

    return ", ".join([*(name for name in COMMANDS if _takes_images(kind_of(name))), BOTH])


def _takes_images(kind: Any) -> bool:
    return "images" in getattr(kind, "takes", ())


def _refuse_what_is_for_tables(given: Any) -> None:
    asked = [name for name in _OF_TABLES if getattr(given, name) is not None]
    asked += ["causal"] if given.causal else []
    if asked:
        option = "--" + asked[0].replace("_", "-")
        raise ValueError(f"`{option}` must be left out for images, which have no columns.")


def _name(model: Any) -> str:
    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    return " then ".join(type(step).__name__ for step in steps)
