"""What may be known beside a model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

from numpy.typing import ArrayLike

from unmix.structure import Structure

Groups = Iterable[Iterable[SupportsIndex]]
Sets = Mapping[str, Iterable[SupportsIndex]]


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known beside a structure, a model and its data; `explain` says what each field means."""

    jacobians: ArrayLike | None = None
    z: ArrayLike | None = None
    independent_latents: bool = False
    groups: Groups | None = None
    a: Iterable[SupportsIndex] | None = None
    b: Iterable[SupportsIndex] | None = None
    ask: str | None = None
    sets: Sets | None = None
    domains: int | ArrayLike | None = None
    mixture: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None
    masks: ArrayLike | None = None
    components: ArrayLike | None = None
    partition: int | str | Groups | None = None
    hessians: ArrayLike | None = None
    thirds: ArrayLike | None = None
    convex_support: bool = False
    tolerance: float | None = None
    second_run: ArrayLike | None = None
    head: ArrayLike | None = None
    structures: Iterable[Structure] | None = None
    n_resamples: int = 0
    random_state: int = 0

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Facts":
        """Take facts by name, and refuse a name that none has."""
        unknown = sorted(given.keys() - cls.__dataclass_fields__.keys())
        if unknown:
            known = ", ".join(cls.__dataclass_fields__)
            raise TypeError(f"`explain` must be given facts among {known}, got {unknown[0]!r}. Rename it.")
        return cls(**given)

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What every judgement of the structure takes; groups that were an iterator serve more than once."""
        groups = None if self.groups is None else [list(group) for group in self.groups]
        return {"independent_latents": self.independent_latents, "groups": groups}
