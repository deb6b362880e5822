"""Stored results after code was rewritten without a change of a number: `python -m <this module> results`.

Honest only where the same smoke sweep gives the same bits before and after.
"""

import argparse
from collections.abc import Sequence

from ..papers import EXPERIMENTS
from ._code import code_version
from ._records import Record
from ._store import Store
from ._summary import _is_own
from ._task import key_of, load_experiment


def restamp(store: Store, experiment: str, code: str) -> tuple[str, int]:
    """Move all results of an experiment to the addresses that they have with other code.

    Nothing but `code` and `key` changes. Results of a user's own method stay where they are.

    Parameters
    ----------
    store : Store
    experiment : str
    code : str
        As `code_version` gives it.

    Returns
    -------
    tuple of str and int
        The code they had, and how many there are.

    Examples
    --------
    >>> import tempfile
    >>> restamp(Store(tempfile.mkdtemp()), "ddl.table4", "0123456789ab")
    ('', 0)
    """
    ours = [r for r in store.records() if r["experiment"] == experiment and not _is_own(r)]
    codes = sorted({record["code"] for record in ours})
    if len(codes) > 1:
        raise ValueError(
            f"`experiment` must have results of one code, got {codes}. Redo or remove the older."
        )
    if ours:
        store.rewrite(experiment, lambda record: record if _is_own(record) else _stamped(record, code))
    return "".join(codes), len(ours)


def _stamped(record: Record, code: str) -> Record:
    if record["key"] != key_of(record):
        raise ValueError(
            f"`key` must be the digest of what a result depends on, got {record['key']}. Redo it."
        )
    new = record | {"code": code}
    return new | {"key": key_of(new)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Restamp the results of a folder with the code that is here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="table", help="default: all of ours that have results")
    given = parser.parse_args(arguments)
    store = Store(given.folder)
    for name in given.names or [name for name in EXPERIMENTS if name in store.experiments()]:
        code = code_version(load_experiment(name).__name__)
        old, n = restamp(store, name, code)
        print(f"{name}: {n} results, {old} -> {code}")


if __name__ == "__main__":
    main()
