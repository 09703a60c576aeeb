"""Databases of SQLite in which agents keep their sessions: opened for reading only, within bounds.

Nothing is written, not even the files beside a database, so what an agent that is running has not merged into its
database yet is not read.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from conformance.documents import BOUNDS, JSON, parse_json
from conformance.errors import InvalidDocument

MAGIC: Final = b"SQLite format 3\0"
UNMERGED: Final = "the newest changes are in the -wal file beside the database, and are not read; close the agent first"
_MAX_ROWS: Final = 1_000_000
_STEPS: Final = 100_000
_MAX_STEPS: Final = 20_000
"""How many times so many steps of SQLite's machine one query may take."""


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database; raises InvalidDocument if that fails, and for what is damaged or takes too long."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, BOUNDS.bytes)
            database.set_progress_handler(_Budget(), _STEPS)
            database.text_factory = _text
            yield database
    except sqlite3.Error as error:
        raise InvalidDocument(f"cannot be read as a database of SQLite: {error}", str(path)) from None


def is_unmerged(path: Path) -> bool:
    """Return whether a database has changes beside it."""
    beside = path.with_name(f"{path.name}-wal")
    return beside.is_file() and beside.stat().st_size > 0


def has_tables(database: sqlite3.Connection, wanted: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a database has some tables with these columns; a view does not count."""
    for table, columns in wanted.items():
        if not list(rows(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))):
            return False
        found = {name for (name,) in rows(database, "SELECT name FROM pragma_table_info(?)", (table,))}
        if not found.issuperset(columns):
            return False
    return True


def rows(database: sqlite3.Connection, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
    """Yield the rows of a query, and no more than the bound."""
    cursor = database.execute(query, values)
    for number, row in enumerate(cursor):
        if number >= _MAX_ROWS:
            return
        yield row


def parsed(text: Any) -> JSON:
    """Return the JSON value in a column; None if it is not JSON."""
    try:
        return parse_json(text, "") if isinstance(text, (str, bytes)) else None
    except InvalidDocument:
        return None


class _Budget:
    """Ends a query that takes too many steps."""

    def __init__(self) -> None:
        self._left = _MAX_STEPS

    def __call__(self) -> int:
        self._left -= 1
        return int(self._left < 0)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
