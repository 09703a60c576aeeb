"""The markup of model families in text: how tool calls, reasoning and special tokens look that a parser left there.

One YAML file per family; the folder is the registry. `find_leaks` is the one way to see them.
"""

from conformance.markup.bare_calls import closes_a_call
from conformance.markup.calls import end_of_value, part_of_name
from conformance.markup.detection import Leak, find_leaks
from conformance.markup.families import Family, family_of, load
from conformance.markup.patterns import CALL, REASONING, REMAINS, TOKEN, may_leak
from conformance.markup.reading import ReadCall, read_calls

__all__ = [
    "CALL", "REASONING", "REMAINS", "TOKEN", "Family", "Leak", "ReadCall", "closes_a_call", "end_of_value", "family_of",
    "find_leaks", "load", "may_leak", "part_of_name", "read_calls",
]  # fmt: skip
