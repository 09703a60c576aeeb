"""The page of the rules, from their docstrings, examples and sources."""

from conformance import rules
from conformance.adapters import loop
from conformance.reporting.matrix.table import Inputs, Table
from conformance.reporting.renderers.rules import render

_HEADING = """\
# Rules

`conformance explain RULE` prints one of these in a terminal, with all its examples. Who breaks which rule is in
[the published results](../../reports/rules.md).
"""

_NO_RESULTS = Table((), (), (), Inputs((), {}))
"""The page says what rules require; the compatibility matrix says who breaks them."""


def page() -> str:
    """Return the page: a list of all rules, then each with its family."""
    text = render(_NO_RESULTS, [*rules.of_traffic(), *loop.load()]).replace("# Rules\n", _HEADING, 1)
    return text.replace("(harm.md)", "(../../reports/harm.md)")
