"""Tables that people have, in and out: features and their names, and beside them ids and metadata.

`read` takes a path or an object and returns a `Table` of finite numbers; `prepared` leaves out what no model
can use and keeps a `Recipe`, by which `read_like` treats the next table as the first one; `write` puts
latents back into the user's own format. Free of torch.
"""

from ._arrays import stored
from ._choice import listed, nearest
from ._labels import label_of
from ._like import other_units, read_like
from ._names import names_in
from ._read import READABLE, read, read_array, read_with
from ._table import MISSING, Columns, Recipe, Table
from ._tidy import prepared
from ._write import WRITABLE, check_writable, write, write_npz

__all__ = [
    "Table",
    "Columns",
    "Recipe",
    "read",
    "read_with",
    "read_array",
    "read_like",
    "prepared",
    "label_of",
    "write",
    "write_npz",
    "check_writable",
    "names_in",
    "listed",
    "nearest",
    "other_units",
    "stored",
    "MISSING",
    "READABLE",
    "WRITABLE",
]
