"""The words of a replication: one line per latent and run, and a sentence about all."""

from typing import Any

HEADS = ("latent", "in", "run", "verdict", "with", "corr.", "span", "noise", "rotated")
SUMMARY = ("run", "latents", "alone", "subspace", "no", "constant")
VERDICTS = {"alone": "alone", "subspace": "subspace", "none": "no", "constant": "constant"}
CAPTION = (
    "Replicates alone, as part of a subspace ({here} in the span of {there}), or not; in how many runs. On "
    "rows held out: corr. with that latent, span with all latents of the run together. Noise: the rate at "
    "which unrelated latents do as well. Rotated: what the best latent of a random rotation of it scores."
)
CAVEAT = (
    "Agreement is not identification: runs that begin alike, or see the same data, also agree on latents "
    "that are wrong. What does not replicate is in doubt; what replicates is not thereby right."
)
_MANY = 6


def meaning(found: Any) -> str:
    """Say how many latents are found again."""
    others = len(found.runs)
    alone, somehow = (int((times == others).sum()) for times in (found.n_alone, found.n_replicated))
    never = int((found.n_replicated == 0).sum())
    where = {1: "the other run", 2: "both other runs"}.get(others, f"all {others} other runs")
    sometimes = found.n_latents - somehow - never
    parts = [f"{alone:,} alone", f"{somehow - alone:,} with the help of a subspace"]
    parts += [f"{sometimes:,} in some runs only"] if others > 1 else []
    return (
        f"Of {found.n_latents:,} latents of {found.names[0]}, {somehow:,} replicate in {where} "
        f"({', '.join(parts[:2])}){''.join(f', {part}' for part in parts[2:])}, and {never:,} in none."
    )


def line(run: Any, latent: int) -> tuple[str, ...]:
    """Write one latent's entry as words and numbers."""
    status = str(run.status[latent])
    if status == "constant":
        return run.name, VERDICTS[status], "", "", "", "", ""
    numbers = (f"{run.correlation[latent]:+.2f}", f"{run.span[latent]:.2f}", rate(float(run.noise[latent])))
    return run.name, VERDICTS[status], _company(run, latent, status), *numbers, f"{run.rotated[latent]:.2f}"


def _company(run: Any, latent: int, status: str) -> str:
    """Name the latents that this one is found with."""
    if status != "subspace":
        return f"{'' if status == 'alone' else 'nearest: '}{run.partner[latent]}"
    group = run.subspaces[run.subspace[latent]]
    return f"{{{_few(group.latents)}}} in {{{_few(group.counterparts)}}}"


def _few(numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:_MANY]))
    return shown if len(numbers) <= _MANY else f"{shown}, ... ({len(numbers):,})"


def rate(value: float) -> str:
    """Write a rate; what is very small is only said to be so.

    >>> [rate(value) for value in (0.25, 0.0004, 1e-30)]
    ['0.25', '4e-04', '< 1e-6']
    """
    return "< 1e-6" if value < 1e-6 else f"{value:.0e}" if value < 0.01 else f"{value:.2f}"


def aligned(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Write a table as lines of text."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in (heads, *rows))
