"""Tables that people have, in and out: features and their names, and beside them ids and metadata.

`read` takes a path or an object and returns a `Table` of finite numbers; `prepared` leaves out what no model
can use and keeps a `Recipe`, by which `read_like` treats the next table as the first one; `write` puts
latents back into the user's own format. Free of torch.
"""

from ._arrays import stored
from ._choice import nearest
from ._labels import label_of, paired
from ._like import other_units, read_like, read_like_with
from ._metadata import read_beside, read_metadata
from ._names import listed, names_in
from ._objects import features_of
from ._read import READABLE, is_array_file, read, read_array, read_column, read_with, suffix_of
from ._stream import ahead, blocks_like, writing
from ._survey import Survey, is_large, survey
from ._table import EVERY, MISSING, Columns, Recipe, Table, generated
from ._tidy import prepared
from ._write import WRITABLE, check_writable, write, write_npz

__all__ = [
    "Table",
    "Columns",
    "Recipe",
    "read",
    "read_with",
    "read_array",
    "read_column",
    "read_metadata",
    "read_beside",
    "is_array_file",
    "read_like",
    "read_like_with",
    "ahead",
    "blocks_like",
    "writing",
    "prepared",
    "Survey",
    "survey",
    "is_large",
    "label_of",
    "paired",
    "write",
    "write_npz",
    "check_writable",
    "names_in",
    "generated",
    "features_of",
    "listed",
    "nearest",
    "other_units",
    "stored",
    "suffix_of",
    "EVERY",
    "MISSING",
    "READABLE",
    "WRITABLE",
]
