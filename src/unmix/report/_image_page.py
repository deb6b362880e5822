"""The content of a page about a model of images, as plain values for the template."""

from functools import partial
from typing import Any

import numpy as np

from .. import plots
from .._findings import domain_specific
from ..plots._image_words import (
    ends_of,
    heading,
    percent,
    range_words,
    reach_words,
    row_name,
    signed_words,
    slope_meaning,
    verdict_on,
)
from ..plots._looking import Strip, is_discrete
from ..plots._pixels import LEVEL, coloured, paled, signed
from ._bars import restarts, score_bars
from ._figures import svg
from ._image_material import ENOUGH, RAW, ImageMaterial
from ._image_pictures import embedded, row_of, strip_row
from ._page import reproduce, spaced
from ._trust import VERDICTS
from ._verdict import answer, turned
from ._words import Verdict, hat, listing

SEEN = "of the images given; whether the fit has seen them, the page can’t know"
WORTH = (
    "A picture can show what a latent does. It can’t show that the latent is one of the true ones: after any "
    "rotation of the latents the model fits as well, and pictures as smooth as these come out."
)

STEPS = (
    "Steps behind the first tell latents apart only if its code is what they ask for, such as, for ICA, a "
    "linear mixture of independent latents; that the code of an autoencoder is one, no data show."
)


def image_page(material: ImageMaterial) -> dict[str, Any]:
    """Return every variable of the template."""
    return {
        "verdict": _verdict(material),
        "subtitle": _subtitle(material),
        "facts": _facts(material),
        "reconstructions": _reconstructions(material),
        "cards": [_card(material, strip) for strip in material.strips],
        "sorted_by": _sorted_by(material),
        "moved_row": row_name(material.row, material.data.ids),
        "sloped_rows": listing(row_name(row, material.data.ids) for row in material.sloped),
        "reach": reach_words(material.look, [strip.latent for strip in material.strips]),
        "slope_meaning": slope_meaning(material.look, [strip.latent for strip in material.strips]),
        "slope_words": signed_words(material.slopes),
        "left_out": material.look.n_latents - len(material.strips),
        "animation": _animation(material),
        "swaps": _swaps(material),
        "scores": [] if material.evaluation is None else score_bars(material.evaluation, raw=RAW),
        "unscored": material.scored and material.evaluation is None,
        "enough": ENOUGH,
        "n_scored": f"{len(material.look.rows):,}",
        "raw": RAW,
        "history": _history(material),
        **restarts(material.findings),
        **reproduce(material.model, "images"),
    }


def _verdict(material: ImageMaterial) -> Verdict:
    """Return the verdict of `unmix.trust`, and what no picture can show."""
    dead = [hat(strip.latent) for strip in material.moved if strip.dead]
    verb = "is" if len(dead) == 1 else "are"
    told = f"{listing(dead)} {verb} dead: no pixel moves by more than one grey level."
    found = material.trust
    if found is None:
        return Verdict("open", "Not checked", (material.unjudged, WORTH)).with_remarks(
            ("open", told if dead else "")
        )
    remarks = (
        ("open", STEPS if hasattr(material.model, "steps") else ""),
        ("open", "" if found else WORTH),
        ("open", told if dead else ""),
    )
    held_out = material.explained_held_out
    share = material.explained if held_out is None else held_out
    return turned(answer(found).with_remarks(*remarks), share if np.isfinite(share) else None)


def _subtitle(material: ImageMaterial) -> str:
    n, height, width, channels = material.look.all.shape
    colour = {1: "grey", 3: "colour"}.get(channels, f"{channels}-channel")
    steps = [step for _, step in getattr(material.model, "steps", [("", material.model)])]
    by = " then ".join(spaced(type(step).__name__) for step in steps)
    return f"{n:,} {colour} images of {height} × {width} pixels, fitted by {by}."


def _facts(material: ImageMaterial) -> list[dict[str, str]]:
    n, height, width, channels = material.look.all.shape
    dead = sum(strip.dead for strip in material.moved)
    facts = [
        ("Images", f"{n:,}", f"{height} × {width} × {channels}"),
        ("Latents", str(material.look.n_latents), f"{dead} dead" if dead else "none of them dead"),
        ("Explained", f"{material.explained:.1%}", SEEN),
    ]
    changing = domain_specific(material.model)
    if changing is not None:
        changed = f"{int(changing.sum())} of {len(changing)} latents change with them"
        facts.append(("Domains", str(material.model.n_domains_), changed))
    if material.explained_held_out is not None:
        facts[2] = ("Explained", f"{material.explained:.1%}", "of the images given")
        facts.append(
            ("On held-out images", f"{material.explained_held_out:.1%}", "of the variance of the pixels")
        )
    return [{"label": label, "value": value, "detail": detail} for label, value, detail in facts]


def _reconstructions(material: ImageMaterial) -> dict[str, Any]:
    seen, found = material.look.reconstructions(material.rows)
    wrong = found - seen
    return {
        "rows": [
            ("Image", row_of(coloured(seen))),
            ("Reconstruction", row_of(coloured(found))),
            ("Difference", row_of(signed(wrong, 1.0))),
        ],
        "names": [row_name(row, material.data.ids) for row in material.rows],
        "words": signed_words(wrong),
    }


def _sorted_by(material: ImageMaterial) -> str:
    verdicts = set() if material.trust is None else set(material.trust.verdicts)
    if len(verdicts) > 1:
        return "The trusted come first, then those that move most; the dead come last."
    why = {"yes": "All are trusted", "no": "None is trusted", "not checked": "None is checked"}
    only = why.get(next(iter(verdicts), ""), "There is no verdict")
    return f"{only}, so they are sorted by how much they move."


def _card(material: ImageMaterial, strip: Strip) -> dict[str, Any]:
    """Return one latent: its strip, what it moves, and the words beside both."""
    found = verdict_on(material.trust, strip.latent)
    tone, word = VERDICTS.get(found or "", ("open", "no verdict"))
    low, high = ends_of(material.look, strip)
    slopes = material.slopes[:, strip.latent]
    largest = float(np.abs(slopes).max())
    moved, changing = signed(slopes, largest), domain_specific(material.model)
    return {
        "name": hat(strip.latent),
        "label": heading(strip, material.trust),
        "tone": tone,
        "word": word,
        "dead": strip.dead,
        "strength": f"{strip.strength / LEVEL:.1f}",
        "changing": changing is not None and bool(changing[strip.latent]),
        "n": len(strip.values),
        "range": range_words(material.look, strip),
        "low": low,
        "high": high,
        "few": is_discrete(material.look.codes[:, strip.latent]),
        "strip": strip_row(strip),
        "moves": row_of(paled(moved) if strip.dead else moved),
        "largest": percent(largest),
    }


def _animation(material: ImageMaterial) -> str:
    return embedded(material.animation, "gif")


def _swaps(material: ImageMaterial) -> dict[str, Any]:
    latents = [strip.latent for strip in material.strips]
    found = material.swaps
    first, second = (row_name(row, material.data.ids) for row in material.pair)
    rows = (
        (f"{first}, with one latent of {second}", found.ends[0], found.one),
        (f"{second}, with one latent of {first}", found.ends[1], found.other),
        (f"{first}, with all up to here of {second}", found.ends[0], found.up_to),
    )
    return {
        "first": first,
        "second": second,
        "columns": ["as it is", *map(hat, latents)],
        "rows": [(label, row_of(coloured(np.concatenate([end[None], tiles])))) for label, end, tiles in rows],
        "all": len(latents) == material.look.n_latents,
    }


def _history(material: ImageMaterial) -> Any:
    history = material.findings.history
    if history is None or not history.terms:
        return None
    return svg(
        partial(plots.history, history), name="history", label="Training history", width=5.0, height=2.5
    )
