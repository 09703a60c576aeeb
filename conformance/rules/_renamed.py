"""Old rule ids and the ids that they have now, so that what names a rule goes on working."""

from typing import Final

RENAMED: Final[dict[str, str]] = {}
