"""Make a compatibility statement from results, or verify one by the results that it was made from.

A statement is a JSON file (schemas/files/statement.json) that a project publishes beside its results: what was checked,
with what versions, when, by which command, what fails, and the SHA-256 of each file of results. Whoever has both files
verifies them. A statement that says anything else than the results is refused, with what differs.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance report statement make results --project 'Our gateway' --url https://example.com/wire > statement.json
  conformance report statement verify statement.json results"""
