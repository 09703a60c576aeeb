"""Compare claims with the recordings and sources that they rest on, and add recordings to the public index.

The index names the repository, commit, path and digest of each recorded exchange; it holds no recording. `fetch` gets
the files into a cache outside the repository: `$CONFORMANCE_CACHE/recordings`, else the user's cache.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance evidence fetch && conformance evidence calibrate
  conformance evidence list --claim reasoning.response-field --provider deepseek
  conformance evidence sources --provider deepseek"""
