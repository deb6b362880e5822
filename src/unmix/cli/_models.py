"""Models by name and by file, and the columns they were fitted on."""

import re
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import typer

from .._findings import findings_of
from .._names import COMMANDS
from ..tables import Recipe, Table, generated, listed
from ._again import again
from ._output import say


def kind_of(method: str) -> Any:
    """Return the class that a method's name stands for."""
    from .. import estimators

    return vars(estimators)[COMMANDS[method]]


def make(method: str, n_components: int, **settings: Any) -> Any:
    """Make an unfitted estimator; settings that are None keep the method's own defaults."""
    estimator = kind_of(method)(n_components)
    given = {name: value for name, value in settings.items() if value is not None}
    unknown = sorted(given.keys() - estimator.get_params().keys())
    if unknown:
        option = "--" + unknown[0].replace("_", "-")
        raise ValueError(f"`{option}` must be left out for --method {method}, which has no such setting.")
    return estimator.set_params(**given)


def fit_and_save(model: Any, table: Table, out: Path, *, rows: Any = None, **known: Any) -> Any:
    """Fit with a checkpoint folder beside the model's file, so that a stopped fit goes on, and save.

    Of a table larger than memory `table` holds some rows, and `rows` reads all of them.
    """
    with checkpointed(model, out) as checkpoint:
        model.fit(table.values if rows is None else rows, **known)
    save_or_rescue(remember(model, table), out)
    forget_checkpoint(checkpoint)
    return model


def save_or_rescue(model: Any, out: Path) -> None:
    """Save a model; where that fails, as on a full disk, keep it in another place and say where."""
    from ..estimators import save

    try:
        save(model, out)
    except OSError as error:
        kept = _rescued(model, out)
        where = f"It is kept as {str(kept)!r}: move it when there is room." if kept else _still_there(out)
        raise ValueError(f"`--out` must be a place that can be written, got {error}. {where}") from error


def _rescued(model: Any, out: Path) -> Path | None:
    """Save a model that can't be saved where it should be: in the temporary folder, or at home."""
    from ..estimators import save

    for folder in (Path(tempfile.gettempdir()), Path.home()):
        with suppress(OSError):
            return save(model, folder / f"{out.name}.{secrets.token_hex(6)}")
    return None


def _still_there(out: Path) -> str:
    """Say how a fit that could be saved nowhere is not lost."""
    begun = _can_go_on(checkpoint_beside(out))
    way = "The same command goes on from its end" if begun else "The same command fits again"
    return f"No other place could be written either. {way} when there is room."


def _can_go_on(checkpoint: Path) -> bool:
    """Whether a folder holds a step that a fit can go on from."""
    return any(path.name == "checkpoint.safetensors" for path in _inside(checkpoint))


def _part_of(checkpoint: Path) -> str:
    """Name the part of a fit whose steps are counted, where it has several; the bar is that of all."""
    kept = [path for path in _inside(checkpoint) if path.name == "checkpoint.safetensors"]
    if not kept:
        return ""
    last = max(kept, key=lambda path: path.stat().st_mtime_ns).parent
    parts = [_counted(name) for name in last.relative_to(checkpoint).parts]
    return f" of {', '.join(parts)}" * bool(parts)


def _counted(name: str) -> str:
    """Count parts of a fit from 1.

    >>> _counted("round-0"), _counted("warm-up")
    ('round 1', 'warm-up')
    """
    what, _, number = name.rpartition("-")
    return f"{what} {int(number) + 1}" if number.isdigit() else name


@contextmanager
def checkpointed(model: Any, out: Path) -> Iterator[Path]:
    """Let a model keep checkpoints in a folder beside its file, and say how to go on if it is stopped."""
    checkpoint = checkpoint_beside(out)
    shown = {"checkpoint": str(checkpoint), "verbose": True}
    before = {name: value for name, value in model.get_params().items() if name in shown}
    model.set_params(**{name: shown[name] for name in before})
    try:
        yield checkpoint
    except KeyboardInterrupt as stop:
        how = "go on" if _can_go_on(checkpoint) else "start again"
        done = getattr(stop, "done", "Interrupted.").lower().removesuffix(".")
        say(f"unmix: {done}{_part_of(checkpoint)}. To {how}: {again('--fresh')}")
        sys.exit(130)
    model.set_params(**before)
    _let_the_first_go_on()


def _let_the_first_go_on() -> None:
    """End here where other processes fitted with this one and another is the first: only that one writes."""
    from .._group import go_on_alone

    if not go_on_alone():
        raise typer.Exit


def checkpoint_beside(out: Path) -> Path:
    """Name the checkpoint folder of a model, and refuse a place that can't be written."""
    if not out.parent.is_dir():
        raise ValueError(
            f"`--out` must lie in a folder that exists, got {str(out)!r}. Make the folder first."
        )
    if out.is_dir():
        raise ValueError(f"`--out` must be a file, got the folder {str(out)!r}. Choose another name.")
    checkpoint = out.with_name(out.name + ".checkpoint")
    foreign = next((path for path in _inside(checkpoint) if not _OURS.fullmatch(path.name)), None)
    if foreign is not None:
        raise ValueError(
            f"`--out` must leave {checkpoint.name!r} beside it for checkpoints, it holds {foreign.name!r}, "
            "which is not ours. Choose another name, or move it away."
        )
    return checkpoint


# what a fit leaves in its checkpoint folder, files that were half written when it was killed among them
_OURS = re.compile(r"settings\.json|checkpoint\.safetensors|\.(settings|checkpoint)\.\w+\.(json|safetensors)")


def _inside(folder: Path) -> list[Path]:
    """Return the files below a folder; of a file itself, that file."""
    if not folder.is_dir():
        return [folder] if folder.exists() or folder.is_symlink() else []
    return [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]


def forget_checkpoint(folder: Path) -> None:
    """Remove a checkpoint: the files of ours, and the folders that are empty then; name what is not ours."""
    for path in _inside(folder):
        if _OURS.fullmatch(path.name):
            path.unlink(missing_ok=True)
        else:
            say(f"unmix: note: {str(path)!r} is not ours, and was left where it is.")
    for path in sorted((each for each in folder.rglob("*") if each.is_dir()), reverse=True):
        _remove_empty(path)
    _remove_empty(folder)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # not empty, or gone
        folder.rmdir()


def load(path: Path) -> Any:
    """Load a model, and say plainly when there is none."""
    if not path.exists():
        raise ValueError(
            f"`{path}` must be a model written by `unmix fit`, it does not exist. Check the path."
        )
    from ..estimators import load as load_model

    return load_model(path)


def remember(model: Any, table: Table) -> Any:
    """Keep with the fitted model the names of the columns, as scikit-learn does, and the recipe."""
    if table.names is not None and len(set(table.names)) == len(table.names):
        model.feature_names_in_ = np.array(table.names, dtype=object)
    if table.recipe is not None:
        model.recipe_ = table.recipe
    return model


def remember_verdict(model: Any, trust: Any, out: Path) -> None:
    """Keep with a saved model what was said of each latent or slot, where something was."""
    if trust is None:
        return
    model.trust_verdicts_ = np.array(trust.verdicts, dtype=object)
    model.trust_probability_ = np.asarray(trust.probability, dtype=float)
    model.trust_effort_ = trust.effort
    model.save(out)


def recipe_of(model: Any) -> Recipe:
    """Return what was done to the table of the fit; of a model fitted elsewhere its columns are known."""
    found = findings_of(model)
    if found.recipe is not None:
        return found.recipe
    if found.feature_names_in is not None:
        return Recipe(tuple(map(str, found.feature_names_in)))
    n = int(found.n_features_in or 0)
    return Recipe(generated(n), named=False, n_columns=n)


def columns_for(model: Any, table: Table) -> np.ndarray:
    """Return the columns a model was fitted on, found by name where both sides have names."""
    wanted = recipe_of(model)
    if table.recipe is wanted or not wanted.named or table.names is None:
        return table.values
    missing = [name for name in wanted.features if name not in table.names]
    if missing:
        raise ValueError(
            f"`X` must have the columns that the model was fitted on, it lacks {listed(missing)}. Add them."
        )
    return table.values[:, [table.names.index(name) for name in wanted.features]]
