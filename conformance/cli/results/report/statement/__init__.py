"""Make a compatibility statement from results, or verify one by the results that it was made from.

A statement is an in-toto statement (schemas/files/statement.json) that a project publishes beside its results: what was
checked, with what versions, when, by which command, what fails, and the SHA-256 of each file of results. It is signed
with a key of the project, or attested by its workflow on GitHub. Whoever has the results and the public key, or the
name of the repository, verifies it. One that says anything else than the results is refused, with what differs.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance report statement make results --project 'Our gateway' --key key.pem > statement.json
  conformance report statement verify statement.json --key key.pub results"""
