"""Write a commented profile to start from, for a provider, gateway or server that is not shipped.

A profile of your own needs another name than the shipped profiles.
"""

import argparse
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from conformance import artifacts, profiles
from conformance.errors import Unusable

EXAMPLES: Final = """\
  conformance provider new my-gateway --extends vllm --out my-gateway.yaml
  conformance provider validate my-gateway.yaml"""

_NAME: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("name", metavar="NAME", help="the name of the profile, such as my-gateway")
    add("--extends", metavar="PROVIDER", default="", help="the profile that it builds on")
    add("--out", metavar="FILE", type=Path, help="where to write (default: standard output)")


def run(arguments: argparse.Namespace) -> int:
    """Print or write the profile."""
    name: str = arguments.name
    if not _NAME.fullmatch(name):
        raise Unusable(f"expected a name of letters, digits, dots, hyphens and underscores, got {name!r}")
    if name in profiles.names():
        raise Unusable(f"{name!r} is the name of a shipped profile; take another one, such as my-{name}")
    base = arguments.extends
    if base:
        profiles.load_profile(base)
        base = _seen_from(base, arguments.out)
    today = datetime.now(UTC).date().isoformat()
    text = _TEMPLATE.format(name=name, today=today, base=_EXTENDS.format(base=base) if base else _NO_BASE)
    if arguments.out is None:
        print(text, end="")
        return 0
    if arguments.out.exists():
        raise Unusable(f"{arguments.out} exists; remove it, or write to another file with --out")
    if arguments.out.stem in profiles.names():
        raise Unusable(f"{arguments.out.stem!r} is the name of a shipped profile; give the file another one")
    artifacts.write(arguments.out, text)
    print(f"wrote {arguments.out}; check it with `conformance provider validate {arguments.out}`", file=sys.stderr)
    return 0


def _seen_from(base: str, out: Path | None) -> str:
    """Return the text that names the base in a file: a path is relative to that file."""
    if out is None or not profiles.is_path(base):
        return base
    return f"./{os.path.relpath(base, out.parent)}"


_EXTENDS: Final = """\
# Every claim of this profile holds here, unless you make one of that name below; `conformance explain claims` shows
# which claim is from where.
extends: {base}
"""
_NO_BASE: Final = """\
# The profile that this one builds on: a provider's name or a path. Its claims hold unless you make them below.
# extends: vllm
"""
_TEMPLATE: Final = """\
# A profile: what is claimed of the wire of one provider, gateway or server.
# `conformance explain claims` lists the claims, `conformance explain NAME` explains one, and
# `conformance provider validate FILE` reports what is wrong with this file.

title: {name}

# vendor: serves its own models. host: serves models made by others. gateway: passes requests on. engine: a server.
kind: gateway
{base}
# The URL that /chat/completions is appended to, and the environment variable with the key, for `pytest --live`.
# base_url: https://gateway.example/v1
# key: MY_GATEWAY_API_KEY

# Host names by which `conformance check` knows your traffic, for profiles of an installed package.
# hosts: [gateway.example]

# The model that a live run requests.
# model: my-model

# Claims about one model, or about all whose name fits a pattern, take precedence over the others:
# models:
#   "qwen*":
#     claims:
#       reasoning.response-field: {{value: reasoning, source: {{inferred: seen in our logs}}, confidence: medium}}

# A claim has a value, a source (url, repo, package, engine, exchange, recorded or inferred) and a confidence (high,
# medium or low). A claim that you omit is as in the profile that you extend, or else as on the canonical wire; one with
# the value `unknown` was looked for and not found.
claims:
  stream.error: {{value: unknown, source: {{searched: {today}}}, confidence: low}}
  # stream.done:
  #   value: true
  #   source: {{url: "https://gateway.example/docs/streaming", quote: "ends with [DONE]", read: {today}}}
  #   confidence: high
"""
