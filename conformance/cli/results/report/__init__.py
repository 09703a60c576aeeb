"""Write the reports of your own results beside those of this project, or list those of this project that are stale.

With --results, the matrix has your endpoints and adapters beside all providers and adapters that the package knows,
whose facts and counts stay as they are. `mine.md` is the page of your own, and `badge.svg` its badge.

Without, in a checkout, the committed reports are written again: the matrix, the rules, and a page for each provider and
each adapter. The README's headline, between its two marks, is one of them. The same input gives the same bytes.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance report --results results                      # after `pytest --provider=P --base-url U --results results`
  conformance report --results results --only mine --out page
  conformance provider replay --all && conformance report    # in a checkout, after a change of profiles or rules
  conformance report --check"""
