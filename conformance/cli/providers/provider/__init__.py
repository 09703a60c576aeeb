"""Write, check, compare and record the profile of a provider, gateway or server.

A profile holds the claims about a wire, each with its source. Every option --provider takes the name of a shipped
profile, or the path of one of your own.
"""

from typing import Final

EXAMPLES: Final = """\
  conformance provider discover http://127.0.0.1:8000 --out my-server.yaml
  conformance provider watch --provider deepseek --live
  conformance provider diff openai deepseek"""
