"""Files that were made to break a reader: each function writes one into a folder, and returns its path."""

import gzip
import io
import json
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

GIB = 1 << 30


def _npy_bytes(shape, descr="<f8", content=b"", fortran=False, header=None):
    text = header or f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    padded = text.encode("latin1") + b" " * ((-len(text) - 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + content


_HEADERS = {
    "absurd": {"shape": "(1000000000000, 8)"},
    "overflow": {"shape": "(4294967296, 4294967296)"},
    "negative": {"shape": "(-5, 4)"},
    "both negative": {"shape": "(-4, -6)"},
    "minus one": {"shape": "(-1,)"},
    "wide": {"shape": "(1, 1000000000000)"},
    "empty": {"shape": "(0, 4)"},
    "many axes": {"shape": "(" + "1," * 70 + ")"},
    "one axis": {"shape": "(192,)"},
    "bytes": {"shape": "(24, 4)", "descr": "|V8"},
    "text": {"shape": "(24, 4)", "descr": "<U2"},
    "huge items": {"shape": "(2, 2)", "descr": "|S2000000000"},
    "objects": {"shape": "(24, 4)", "descr": "|O"},
    "complex": {"shape": "(12, 4)", "descr": "<c16"},
    "dates": {"shape": "(24, 4)", "descr": "<M8[s]"},
    "records": {"shape": "(24,)", "descr": [("a", "<f8"), ("b", "|O")]},
    "nothing": {"shape": "(24, 4)", "descr": "<f7"},
    "half a header": {"shape": "", "header": "{'descr': '<f8', 'shape': (24,"},
    "no dict": {"shape": "", "header": "[1, 2]"},
    "nested": {"shape": "", "header": "(" * 900 + ")" * 900},
    "strings as shape": {"shape": "('a', 'b')"},
    "floats as shape": {"shape": "(24.0, 4.0)"},
    "true as shape": {"shape": "(True, True)"},
}


def npy():
    """NPY files with odd headers, or none."""
    for name, told in _HEADERS.items():
        yield name, _npy_bytes(**{"content": b"\x01" * 768} | told)
    yield "no bytes", b""
    yield "magic alone", b"\x93NUMPY"
    yield "another version", b"\x93NUMPY\x09\x00" + b"\x00" * 60
    yield "long header", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31 - 1) + b" " * 100
    yield "a pickle", b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07builtins\x94."
    yield "a ZIP file", _zip({"x.npy": _npy_bytes("(2, 2)", content=b"\x00" * 32)})


def _zip(members, compression=zipfile.ZIP_DEFLATED):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return held.getvalue()


def _patched(data, *, flag=None, method=None, crc=None, size=None):
    """Change the headers of all members of a ZIP file."""
    data = bytearray(data)
    for mark, at_flag, at_method, at_crc, at_size in (
        (b"PK\x03\x04", 6, 8, 14, 22),
        (b"PK\x01\x02", 8, 10, 16, 24),
    ):
        start = data.find(mark)
        while start >= 0:
            for value, at, form in (
                (flag, at_flag, "<H"),
                (method, at_method, "<H"),
                (crc, at_crc, "<I"),
                (size, at_size, "<I"),
            ):
                if value is not None:
                    struct.pack_into(form, data, start + at, value)
            start = data.find(mark, start + 4)
    return bytes(data)


def npz():
    """NPZ files: encrypted, compressed in unknown ways, with members that are no arrays, or bombs."""
    good = _npy_bytes("(24, 4)", content=np.linspace(0, 1, 96).tobytes())
    plain = _zip({"x.npy": good})
    yield "encrypted", _patched(plain, flag=1)
    yield "unknown compression", _patched(plain, method=99)
    yield "deflate64", _patched(plain, method=9)
    yield "bad crc", _patched(plain, crc=7)
    yield "claims more", _patched(_zip({"x.npy": good}, zipfile.ZIP_STORED), size=2**32 - 2)
    yield "a directory", _zip({"x/": b"", "x.npy/": b""})
    yield "a directory called x", _zip({"x.npy/": b"", "y.npy": good})
    yield "no array", _zip({"x": b"hello", "y.txt": b"a,b\n1,2\n"})
    yield "no array called npy", _zip({"x.npy": b"hello"})
    yield "pickled", _zip({"x.npy": _npy_bytes("(1,)", "|O", b"\x80\x04N.")})
    yield "thousands", _zip({f"m{k}.npy": b"" for k in range(5000)} | {"x": b""})
    yield "twice", _twice(good)
    yield "empty archive", _zip({})
    yield "cut", plain[: len(plain) // 2]
    yield "without its end", plain[:-22]
    yield "above", _zip({"../x.npy": good})
    yield "three axes", _zip({"x.npy": _npy_bytes("(2, 3, 4)", content=b"\x00" * 192)})
    yield "names too few", _zip({"x.npy": good, "x_names.npy": _npy_bytes("(1,)", "<U1", b"a\x00\x00\x00")})
    yield (
        "names of three axes",
        _zip({"x.npy": good, "x_names.npy": _npy_bytes("(1, 1, 4)", "<f8", b"\x00" * 32)}),
    )
    yield "names without axis", _zip({"x.npy": good, "x_names.npy": _npy_bytes("()", "<f8", b"\x00" * 8)})
    yield "names objects", _zip({"x.npy": good, "x_names.npy": _npy_bytes("(4,)", "|O", b"\x80\x04N.")})
    yield "ids without axis", _zip({"x.npy": good, "x_ids.npy": _npy_bytes("()", "<f8", b"\x00" * 8)})
    yield "truth of another kind", _zip({"x.npy": good, "z.npy": _npy_bytes("(2, 2)", "<U2", b"\x00" * 32)})
    yield "truth of other rows", _zip({"x.npy": good, "z.npy": _npy_bytes("(2, 2)", content=b"\x00" * 32)})
    yield (
        "structure of one axis",
        _zip({"x.npy": good, "z.npy": good, "structure.npy": _npy_bytes("(4,)", content=b"\x00" * 32)}),
    )
    for name, (shape, content) in {"absurd": ("(1000000000, 1000)", b"")}.items():
        yield name, _zip({"x.npy": _npy_bytes(shape, content=content)})


def _twice(good):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("x.npy", good)
        archive.filelist.append(archive.filelist[0])
    return held.getvalue()


def bombs():
    """Small files that hold gigabytes of zeros."""
    yield "bomb.npz", _npz_bomb(3 * GIB)
    yield "bomb.csv.gz", _gzip_bomb(b"a,b\n", b"0,0\n" * (1 << 16), 3 * GIB)
    yield "line.csv.gz", _gzip_bomb(b"a,b\n1,2\n", b"1" * (1 << 18), 3 * GIB)
    zeros = pa.table({f"c{j}": np.zeros(400_000) for j in range(10)})
    yield "bomb.parquet", _arrow_bomb(lambda held: pa.parquet.ParquetWriter(held, zeros.schema), zeros)
    packed = pa.ipc.IpcWriteOptions(compression="zstd")
    yield "bomb.feather", _arrow_bomb(lambda held: pa.ipc.new_file(held, zeros.schema, options=packed), zeros)
    yield "bomb.h5ad", _empty_h5ad()


def _arrow_bomb(writer_to, table, times=40):
    held = io.BytesIO()
    with writer_to(held) as writer:
        for _ in range(times):
            writer.write_table(table)
    return held.getvalue()


def _empty_h5ad():
    """An array of terabytes of which nothing was ever written."""
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        made = file.create_dataset("X", (10**8, 10**4), "f4", chunks=(100, 100))
        made.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    return held.getvalue()


def _npz_bomb(size):
    head = _npy_bytes(f"({size // 32}, 4)")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block, crc, parts = bytes(1 << 22), zlib.crc32(head), [packer.compress(head)]
    for _ in range(size >> 22):
        crc = zlib.crc32(block, crc)
        parts.append(packer.compress(block))
    packed = b"".join([*parts, packer.flush()])
    whole = len(head) + size
    local = (
        struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 8, 0, 33, crc, len(packed), whole, 5, 0) + b"x.npy"
    )
    entry = (
        struct.pack(
            "<4sHHHHHHIIIHHHHHII",
            b"PK\x01\x02",
            20,
            20,
            0,
            8,
            0,
            33,
            crc,
            len(packed),
            whole,
            5,
            0,
            0,
            0,
            0,
            0,
            0,
        )
        + b"x.npy"
    )
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local) + len(packed), 0)
    return local + packed + entry + end


def _gzip_bomb(head, block, size):
    """Pack a head and then the same member over and over, which takes no time to make."""
    long = block * ((1 << 24) // len(block))
    return gzip.compress(head, mtime=0) + gzip.compress(long, 9, mtime=0) * (size // len(long))


def csv():
    """CSV files with one enormous field, and other texts that are no tables."""
    yield "enormous field", b"a,b\n1," + b"9" * (1 << 24) + b"\n2,3\n"
    yield "enormous name", b"a" * (1 << 22) + b",b\n1,2\n3,4\n"
    yield "enormous quoted", b'a,b\n1,"' + b"x\n" * (1 << 22) + b'"\n2,3\n'
    yield "no closing quote", b'a,b\n1,"2\n3,4\n5,6\n'
    yield (
        "many columns",
        b",".join(b"%d" % k for k in range(10_000)) + b"\n" + b",".join([b"1"] * 10_000) + b"\n",
    )
    yield "only commas", b",,,,\n" * 50
    yield "nulls", b"a,b\n1,\x002\n3,4\n"
    yield "one line", b"a,b,c"
    yield "control", b"a,b\x1b[31m\n1,2\n3,4\n5,7\n"
    yield "latin", b"caf\xe9,b\n1,2\n3,4\n"
    yield "late latin", b"a,b\n" + b"1,2\n" * 400_000 + b"\xe9,3\n"
    yield "ragged", b"a,b\n1,2\n3\n4,5,6\n"
    yield "same names", b"a,a\n1,2\n3,4\n5,7\n"
    yield "huge numbers", b"a,b\n1e999,2\n3,-1e999\n5,6\n"
    yield "returns", b"a,b\r1,2\r3,4\r5,7\r"
    yield "quotes", b'"""""","""\n"""\n' * 30
    yield "empty", b""
    yield "blanks", b"\n" * 1000


def documents():
    """JSON that is deep, long, or something else."""
    yield "deep", b"[" * 100_000 + b"]" * 100_000
    yield "deep objects", b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    yield "rather deep", b"[" * 800 + b"]" * 800
    yield "number", b"5"
    yield "text", b'"hello"'
    yield "nothing", b"null"
    yield "long number", b"[" + b"9" * 10_000 + b"]"
    yield "not a number", b"[[NaN, Infinity], [1, 0]]"
    yield "objects in rows", b'[[{}, 1], [[], "a"]]'
    yield "ragged", b"[[1, 0], [1]]"
    yield "huge", b"[[1e400, 0], [1, 1]]"
    yield "utf-16", "[[1, 0]]".encode("utf-16")
    yield "no text", b"\xff\xfe\x00\x01"
    yield "two", b"[[1]] [[2]]"
    yield "support of text", b'{"support": "abc", "margin": 1}'
    yield "margin of lists", b'{"support": [[1, 0], [0, 1]], "margin": [[]]}'
    yield "three axes", b"[[[1, 0], [0, 1]]]"
    yield "sets of numbers", b'{"a": 5, "b": [[1]]}'
    yield "cut", b'{"a": ["x0", "x1"'


def safetensors():
    """Safetensors files whose headers lie."""

    def made(header, content=b"\x00" * 768, length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(text) if length is None else length) + text + content

    entry = {"dtype": "F64", "shape": [24, 4], "data_offsets": [0, 768]}
    yield "long header", made(b"{}", length=2**60)
    yield "header of 200 MB", made(b"{}", length=10_000_000)
    yield "deep", made(b'{"x":' * 5000 + b"1" + b"}" * 5000)
    yield "a list", made([])
    yield "no entry", made({"x": 5})
    yield "negative", made({"x": entry | {"shape": [-24, 4]}})
    yield "absurd", made({"x": entry | {"shape": [10**12, 10**6]}})
    yield "overflow", made({"x": entry | {"shape": [2**40, 2**40]}})
    yield "beyond", made({"x": entry | {"data_offsets": [0, 10**12]}})
    yield "backwards", made({"x": entry | {"data_offsets": [768, 0]}})
    yield "unknown type", made({"x": entry | {"dtype": "F65"}})
    yield "bfloat16", made({"x": {"dtype": "BF16", "shape": [96, 4], "data_offsets": [0, 768]}})
    yield "float8", made({"x": {"dtype": "F8_E4M3", "shape": [192, 4], "data_offsets": [0, 768]}})
    yield "booleans", made({"x": {"dtype": "BOOL", "shape": [192, 4], "data_offsets": [0, 768]}})
    yield "empty", b""
    yield "no header", made({})
    yield "no axis", made({"x": {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}}, b"\x00" * 8)
    yield "no rows", made({"x": {"dtype": "F64", "shape": [0, 4], "data_offsets": [0, 0]}}, b"")
    yield "ours of a list", made({"__metadata__": {"unmix": "[]", "sha256": ""}})
    yield "ours of nothing", made({"__metadata__": {"unmix": "", "sha256": ""}, "x": entry})


def arrow():
    """Parquet and Feather files that are cut or hold what no table of numbers has."""

    def parquet(table):
        held = io.BytesIO()
        pa.parquet.write_table(table, held)
        return held.getvalue()

    good = parquet(pa.table({"a": np.arange(24.0), "b": np.arange(24.0) ** 2}))
    yield "cut", good[: len(good) // 2]
    yield "magic alone", b"PAR1PAR1"
    yield "long footer", good[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1"
    yield "no rows", parquet(pa.table({"a": pa.array([], pa.float64())}))
    yield "no columns", parquet(pa.table({}))
    yield "lists", parquet(pa.table({"a": [[1.0], [2.0, 3.0]], "b": [{"c": 1}, {"c": 2}]}))
    yield "nulls", parquet(pa.table({"a": pa.array([None, None], pa.float64())}))
    yield "odd pandas", parquet(pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({"pandas": "[[["}))
    yield "pandas of a list", parquet(pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({"pandas": "[]"}))
    yield (
        "pandas of numbers",
        parquet(pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({"pandas": '{"index_columns": 5}'})),
    )
    yield "deep pandas", parquet(pa.table({"a": [1.0]}).replace_schema_metadata({"pandas": "[" * 10_000}))
    yield "decimals", parquet(pa.table({"a": pa.array([1, 2], pa.decimal128(38, 30))}))
    yield "no text", parquet(pa.table({"a": [1.0, 2.0], "b": pa.array([b"\xff\xfe", b"\x00"])}))
