"""What an earlier run made of the files of this package, kept in the user's cache until one of them changes.

To find the error texts of all profiles takes several times as long as everything else in a check of one failed
exchange, and to read a profile's YAML twenty times as long as to read the same value as JSON. Each value has one file,
which the next version of the package replaces.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from conformance.errors import Unusable


def derived(kind: str, name: str, sources: Iterable[bytes], find: Callable[[], Any]) -> Any:
    """Return a JSON value that follows from the content of some files; it is found if no run has kept it.

    `kind`: the folder in the cache. `name`: that of the value. A cache that cannot be read or written costs time and
    nothing else.
    """
    # Imported here because they load OpenSSL and what writes files.
    from hashlib import blake2b

    from conformance.artifacts import cache_root, write

    state = blake2b(digest_size=16)
    for data in sources:
        state.update(b"%d " % len(data))
        state.update(data)
    # RuntimeError: the user has no home.
    with suppress(OSError, RuntimeError):
        head, _, body = (cache_root(kind) / f"{name}.json").read_bytes().partition(b"\n")
        # The second digest tells that the file is whole.
        if head == f"{state.hexdigest()} {blake2b(body, digest_size=16).hexdigest()}".encode():
            return orjson.loads(body)
    value = find()
    with suppress(OSError, RuntimeError, Unusable):
        body = orjson.dumps(value)
        head = f"{state.hexdigest()} {blake2b(body, digest_size=16).hexdigest()}\n".encode()
        write(cache_root(kind) / f"{name}.json", head + body, private=True)
    return value


def contents(folders: Iterable[Path], suffixes: tuple[str, ...] = (".py", ".yaml")) -> Iterable[bytes]:
    """Yield the names and the contents of the files in some folders."""
    for file in sorted([each for folder in folders for each in folder.iterdir() if each.suffix in suffixes]):
        yield file.name.encode()
        yield file.read_bytes()
