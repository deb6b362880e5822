"""Sets of images, rendered into a folder."""

from enum import StrEnum
from typing import Any

from ._output import print_json, tell

ImageSet = StrEnum("ImageSet", ["shapes3d", "dsprites", "cars3d", "mpi3d", "balls", "avatars"])


def simulate_images(given: Any) -> None:
    """Render a set into a folder, and say what is there."""
    from ..data import images

    settings = {name: vars(given)[name] for name in ("n_samples", "size", "random_state")}
    settings |= _of_balls(given)
    out = images.check_folder(given.out, given.force, option="--out")
    data = getattr(images, given.images.value)(**settings)
    images.write_images(
        out, data, source=f"unmix simulate {given.images.value}", force=given.force, progress=True
    )
    _tell_set(given, data)


def _of_balls(given: Any) -> dict[str, Any]:
    """Return the settings that balls alone have, and refuse them for other sets."""
    settings: dict[str, Any] = {} if given.n_balls is None else {"n_balls": given.n_balls}
    settings |= {"together": False} if given.apart else {}
    if settings and given.images is not ImageSet.balls:
        option = "--n-balls" if "n_balls" in settings else "--apart"
        raise ValueError(f"`{option}` must be left out for {given.images.value}, which has no balls.")
    return settings


def _tell_set(given: Any, data: Any) -> None:
    n, height, width, channels = data.images.shape
    about = {"out": given.out, "set": given.images.value, "n_images": n, "shape": (height, width, channels)}
    if given.as_json:
        print_json(about | {"names": data.names, "sizes": data.sizes, "random_state": given.random_state})
    else:
        factors = ", ".join(f"{name} ({size})" for name, size in zip(data.names, data.sizes, strict=True))
        tell(f"Factors: {factors}", f"{n:,} images of {height} x {width} x {channels}: {given.out}")
