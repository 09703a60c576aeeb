"""Databases of SQLite in which agents keep their sessions: opened for reading only, within bounds.

Nothing is written, not even the files beside a database: what an agent has not merged into it yet is read in memory.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from conformance.documents import BOUNDS, JSON, parse_json
from conformance.errors import InvalidDocument
from conformance.formats.sessions import write_ahead

MAGIC: Final = b"SQLite format 3\0"
_UNMERGED: Final = (
    "the newest changes are in the -wal file beside the database, and are not read: both are too large, or changed"
    " while they were read"
)
_READING: Final = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
"""What a query may do: it calls no functions."""
_MAX_ROWS: Final = 1_000_000
_STEPS: Final = 100_000
_MAX_STEPS: Final = 20_000
"""How many times so many steps of SQLite's machine one query may take."""


@contextmanager
def opened(path: Path) -> Iterator[tuple[sqlite3.Connection, tuple[str, ...]]]:
    """Open a database, and say what of it is not read; raises InvalidDocument for what is damaged or takes too long."""
    # Imported here because most files are no databases.
    from conformance.processes import noticing_signals

    log = write_ahead.beside(path)
    with noticing_signals() as raise_if_any:
        try:
            data = write_ahead.merged(path, log) if log else None
            with closing(_connection(path, data)) as database:
                _restrict(database)
                yield database, (_UNMERGED,) if log and data is None else ()
        except sqlite3.Error as error:
            # SQLite takes Ctrl-C inside a callback for the wish to stop, or to refuse.
            raise_if_any()
            raise InvalidDocument(f"cannot be read as a database of SQLite: {error}", str(path)) from None
        except OSError as error:
            raise InvalidDocument(f"cannot be read: {error.strerror}", str(path)) from None


def _restrict(database: sqlite3.Connection) -> None:
    """Let queries read tables only, within bounds."""
    database.execute("PRAGMA query_only = ON")
    # An index of Kilo calls a function, which with `trusted_schema` off would make the database unreadable.
    database.set_authorizer(_may_read)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, BOUNDS.bytes)
    database.set_progress_handler(_Budget(), _STEPS)
    database.text_factory = _text


def _connection(path: Path, data: bytes | None) -> sqlite3.Connection:
    if data is None:
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    database = sqlite3.connect(":memory:")
    database.deserialize(data)
    return database


def _may_read(action: int, *_details: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def has_tables(database: sqlite3.Connection, wanted: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a database has some tables with these columns; a view does not count."""
    for table, columns in wanted.items():
        if not list(rows(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))):
            return False
        if not columns_of(database, table).issuperset(columns):
            return False
    return True


def columns_of(database: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return the names of the columns of a table that exists."""
    return frozenset(column[0] for column in database.execute(f"SELECT * FROM {table} LIMIT 0").description)  # noqa: S608


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
