"""What an earlier run made of the files of this package, kept in the user's cache until one of them changes.

To find the error texts of all profiles takes several times as long as everything else in a check of one failed
exchange. There is one file for each kind of rows, which the next version of the package replaces.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.artifacts import cache_root, write
from conformance.errors import Unusable

_KIND: Final = "texts"
_SUFFIXES: Final = (".py", ".yaml")


def kept_rows(name: str, folders: Iterable[Path], find: Callable[[], Sequence[Sequence[Any]]]) -> list[list[Any]]:
    """Return rows of JSON values that follow from the files in some folders; they are found if no run has kept them.

    A cache that cannot be read or written costs time and nothing else.
    """
    # Imported here because it loads OpenSSL.
    from hashlib import blake2b

    state = blake2b(digest_size=16)
    for file in sorted([each for folder in folders for each in folder.iterdir() if each.suffix in _SUFFIXES]):
        data = file.read_bytes()
        state.update(f"{file.name} {len(data)} ".encode())
        state.update(data)
    # RuntimeError: the user has no home.
    with suppress(OSError, RuntimeError):
        head, _, body = (cache_root(_KIND) / f"{name}.json").read_bytes().partition(b"\n")
        # The second digest tells that the file is whole.
        if head == f"{state.hexdigest()} {blake2b(body, digest_size=16).hexdigest()}".encode():
            known: list[list[Any]] = orjson.loads(body)
            return known
    rows = [list(row) for row in find()]
    with suppress(OSError, RuntimeError, Unusable):
        body = orjson.dumps(rows)
        head = f"{state.hexdigest()} {blake2b(body, digest_size=16).hexdigest()}\n".encode()
        write(cache_root(_KIND) / f"{name}.json", head + body, private=True)
    return rows
