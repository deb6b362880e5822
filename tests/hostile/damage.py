"""Damage: bytes that were flipped, cut, doubled or overwritten, and JSON whose parts were exchanged."""

import copy
import json
import struct

import torch

from unmix.training import read_sealed, write_sealed

_NUMBERS = (0, 1, -1, 2**31 - 1, -(2**31), 2**32 - 1, 2**62, -(2**62))
ODD = (
    None,
    True,
    0,
    -1,
    3,
    10**12,
    1e308,
    "",
    "x",
    "../x",
    [],
    {},
    [[]],
    [0, [1]],
    {"array": "x"},
    {"float": "x"},
)


def bytes_of(data, rng):
    """Return a damaged copy of some bytes."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        _WAYS[int(rng.integers(len(_WAYS)))](data, int(rng.integers(max(1, len(data)))), rng)
    return bytes(data)


def _flip(data, at, rng):
    data[at : at + 1] = bytes([int(rng.integers(256))])


def _cut(data, at, rng):
    del data[at:]


def _remove(data, at, rng):
    del data[at : at + int(rng.integers(1, 64))]


def _double(data, at, rng):
    data[at:at] = data[at : at + int(rng.integers(1, 200))] * int(rng.integers(1, 5))


def _overwrite(data, at, rng):
    number = _NUMBERS[int(rng.integers(len(_NUMBERS)))]
    data[at : at + 8] = struct.pack("<q", number) if rng.integers(2) else struct.pack("<i", number % 2**31)


def _digits(data, at, rng):
    """Write other digits where there are some: shapes and lengths in headers of text."""
    places = [k for k, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        k = places[int(rng.integers(len(places)))]
        data[k : k + 1] = (b"-", b"99999999", b"0", b"7e9", b"\xff")[int(rng.integers(5))]


_WAYS = (_flip, _flip, _cut, _remove, _double, _overwrite, _digits)


def json_of(document, rng):
    """Return a copy of a document in which a part is exchanged, left out or called otherwise."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    if not places:
        return ODD[int(rng.integers(len(ODD)))]
    inside, key = places[int(rng.integers(len(places)))]
    way = int(rng.integers(4))
    if way == 0:
        del inside[key]
    elif way == 1 and isinstance(inside, dict):
        inside[f"{key}?"] = inside.pop(key)
    else:
        inside[key] = ODD[int(rng.integers(len(ODD)))]
    return document


def _places(tree):
    keys = range(len(tree)) if isinstance(tree, list) else tree if isinstance(tree, dict) else ()
    for key in list(keys):
        yield tree, key
        yield from _places(tree[key])


def model_of(source, target, rng, key="unmix"):
    """Write a copy of a model whose header or arrays were changed, with a checksum that agrees."""
    text, tensors = read_sealed(source, key)
    header = json.loads(text)
    if rng.integers(3):
        for _ in range(int(rng.integers(1, 3))):
            header = json_of(header, rng)
    else:
        name = sorted(tensors)[int(rng.integers(len(tensors)))]
        _TENSORS[int(rng.integers(len(_TENSORS)))](tensors, name)
    write_sealed(target, key, json.dumps(header), {k: t.contiguous() for k, t in tensors.items()})


_TENSORS = (
    lambda tensors, name: tensors.pop(name),
    lambda tensors, name: tensors.update({name: tensors[name].flatten()[:1]}),
    lambda tensors, name: tensors.update({name: tensors[name].to(torch.int64)}),
    lambda tensors, name: tensors.update({name: tensors[name].double() * float("nan")}),
    lambda tensors, name: tensors.update({name: tensors[name][None]}),
    lambda tensors, name: tensors.update({name: tensors[name].flatten()[:0]}),
    lambda tensors, name: tensors.update({name: tensors[name].double() * 1e300}),
)
