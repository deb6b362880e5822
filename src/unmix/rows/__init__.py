"""Blocks of rows: of arrays, NPY, Parquet and safetensors files, folders of shards, and Dask collections.

A table of any length is read block by block, and every pass adds up the same sums. Free of torch.
"""

from ._arrow import arrow_rows
from ._dask import DaskRows, dask_rows, is_dask
from ._files import file_rows, joined_rows
from ._parquet import opened_parquet, parquet_batches
from ._rows import Rows, array_rows
from ._safetensors import keys_of, read_tensor, tensor_shape, use_safetensors
from ._store import ActivationStore
from ._store_files import is_store, open_store, require_plan, shard_rows, write_index
from ._views import changed, gathered, only

__all__ = [
    "Rows",
    "array_rows",
    "file_rows",
    "joined_rows",
    "changed",
    "only",
    "gathered",
    "arrow_rows",
    "DaskRows",
    "dask_rows",
    "is_dask",
    "opened_parquet",
    "parquet_batches",
    "keys_of",
    "read_tensor",
    "tensor_shape",
    "use_safetensors",
    "ActivationStore",
    "is_store",
    "open_store",
    "shard_rows",
    "require_plan",
    "write_index",
]
