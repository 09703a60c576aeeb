"""Test an SDK or agent loop against a simulated strict provider.

A driver is a small program, in any language, that runs one job through one adapter. It gets the job as one JSON
document on standard input (schemas/files/adapter-job.json) and prints the answer as the last line of its standard
output (schemas/files/adapter-answer.json). Its requests go to the base URL of the job; the adapter needs no changes.
Each case runs in its own process, with a timeout and without your keys and proxies.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance adapter run --driver 'node driver.mjs' --provider deepseek
  conformance adapter run pydantic-ai@1.25.0 --install --keep sessions
  conformance adapter matrix --only 'langchain-*' --resume
  conformance adapter bisect pydantic-ai-responses --rule responses/phase-kept --bad 1.87.0
  conformance explain scenarios                     # the scenarios that are run
  conformance check sessions --provider deepseek    # check again what --keep has written"""
