"""Test a gateway at both its ends: a client before it, a strict simulated provider behind it.

Every text, id, argument and result has a nonce, so that what goes in and what comes out match exactly, whatever the
gateway reorders, splits, repeats or merges. What it loses or changes is a finding, with the two places that prove it.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance gateway run litellm --front messages --back deepseek
  conformance gateway run --base-url http://127.0.0.1:4000/v1 --front messages --back deepseek --upstream-port 9100
  conformance gateway matrix --only 'portkey'
  conformance gateway issue portkey --fact gateway/tools-kept"""
