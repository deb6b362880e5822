"""Drawn faces with ten known factors, by packages that are an extra."""

import io
from functools import cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from .._factors import FactorDataset
from ._twin import twin

_FEATURES = {  # factor: argument of python_avatars.Avatar, the enumeration of its values, and those used here
    "skin": ("skin_color", "SkinColor", ("PALE", "TANNED", "BROWN", "BLACK")),
    "hair": ("top", "HairType", ("SHORT_FLAT", "BOB", "CURLY", "FRO", "LONG_NOT_TOO_LONG")),
    "hair_color": ("hair_color", "HairColor", ("BLACK", "BLONDE", "RED", "SILVER_GRAY")),
    "eyes": ("eyes", "EyeType", ("DEFAULT", "HAPPY", "SIDE", "SURPRISED")),
    "eyebrows": ("eyebrows", "EyebrowType", ("DEFAULT", "ANGRY", "RAISED_EXCITED")),
    "mouth": ("mouth", "MouthType", ("SMILE", "SAD", "SERIOUS", "SCREAM_OPEN")),
    "beard": ("facial_hair", "FacialHairType", ("NONE", "BEARD_MEDIUM", "MOUSTACHE_MAGNUM")),
    "glasses": ("accessory", "AccessoryType", ("NONE", "ROUND", "PRESCRIPTION_2")),
    "clothing": ("clothing", "ClothingType", ("SHIRT_CREW_NECK", "COLLAR_SWEATER", "OVERALL")),
    "clothing_color": ("clothing_color", "ClothingColor", ("BLUE_03", "RED", "PASTEL_GREEN", "BLACK")),
}
FACTORS = {name: len(values) for name, (_, _, values) in _FEATURES.items()}


def avatars(
    n_samples: int | None = None,
    *,
    size: int = 64,
    random_state: int | np.random.Generator | None = None,
) -> FactorDataset:
    """Draw faces with ten factors: 414,720 combinations of skin, hair, eyes, mouth, clothes and their like.

    Faces are vector graphics, drawn on the CPU in about 10 ms each. Needs the extra `avatars`
    (python-avatars, resvg-py): ``pip install 'unmix[avatars]'``.

    Parameters
    ----------
    n_samples : int, optional
        Images at random; by default all combinations of factors, the last varying fastest. They are drawn
        when they are asked for.
    size : int
        Height and width in pixels: 16, 32, 64 or 128.
    random_state : int, Generator or None

    Returns
    -------
    FactorDataset

    Notes
    -----
    The beard has the colour of the hair. In small images some brows can hardly be told apart.

    Examples
    --------
    >>> data = avatars(3, random_state=0)  # doctest: +SKIP
    >>> data.images.shape, len(data.names)  # doctest: +SKIP
    ((3, 64, 64, 3), 10)
    """
    _packages()
    return twin(paint, FACTORS, n_samples=n_samples, size=size, random_state=random_state, work=4)


def paint(levels: Int[Tensor, "n 10"], *, size: int) -> UInt8[Tensor, "n size size 3"]:
    """Draw one face after another."""
    faces = np.stack([_face(tuple(row), size) for row in levels.tolist()])
    return torch.from_numpy(faces).to(levels.device)


def _face(levels: tuple[int, ...], size: int) -> np.ndarray:
    from PIL import Image

    drawing, svg_to_bytes = _packages()
    chosen = {
        argument: getattr(getattr(drawing, kind), values[level])
        for (argument, kind, values), level in zip(_FEATURES.values(), levels, strict=True)
    }
    svg = drawing.Avatar(**chosen, facial_hair_color=chosen["hair_color"]).render()
    drawn = svg_to_bytes(svg_string=svg, background="#ffffff", height=2 * size, skip_system_fonts=True)
    face = Image.open(io.BytesIO(bytes(drawn))).convert("RGB")
    return np.asarray(face.resize((size, size), Image.Resampling.BOX))


@cache
def _packages() -> tuple[Any, Any]:
    """Import what draws, or say which extra brings it."""
    try:
        import python_avatars
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise ImportError(
            "`avatars` needs python-avatars and resvg-py: pip install 'unmix[avatars]'."
        ) from error
    return python_avatars, svg_to_bytes
