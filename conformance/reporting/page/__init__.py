"""The HTML pages: what they show, and where those of adapters are.

Answers are rows of a table, and everything else is compact data for the script of the page.
"""

import re
from hashlib import sha256
from typing import Final

_NOT_IN_PATHS: Final = re.compile(r"[^\w.@+-]+", re.ASCII)
_MAX_NAME: Final = 120


def adapter_page(name: str) -> str:
    """Return the path of the page of an adapter with a provider, by the name of its results.

    A name that cannot be that of a file is shortened to one, with a digest that tells it from others.
    """
    plain = name.replace("/", ".")
    safe = _NOT_IN_PATHS.sub("-", plain)[:_MAX_NAME].strip(".")
    return f"adapters/{safe if safe == plain else f'{safe}-{sha256(name.encode()).hexdigest()[:8]}'}.html"
