"""Blocks of rows: of arrays, NPY, Parquet and safetensors files, folders of shards, and Dask collections.

A table of any length is read block by block, and every pass adds up the same sums.
"""

from ._dask import DaskRows, dask_rows, is_dask
from ._rows import Prepare, Rows, array_rows, block_rows, file_rows, sample_stride

__all__ = [
    "array_rows",
    "block_rows",
    "dask_rows",
    "DaskRows",
    "file_rows",
    "is_dask",
    "Prepare",
    "Rows",
    "sample_stride",
]
