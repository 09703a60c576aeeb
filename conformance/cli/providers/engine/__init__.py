"""Run an open-source server with the scripted model, record it, and report what has changed.

An engine listens on loopback only and runs in an environment of its own, which is created when first needed. It stops
when the command ends, for whatever reason.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance engine run llamacpp -- pytest --provider=llamacpp --live
  conformance engine record --all
  conformance engine drift llamacpp"""
