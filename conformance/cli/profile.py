"""Write and check profiles of your own, for providers, gateways and servers that are not shipped.

Every option --provider takes the path of such a file. `extends` in it names the profile that it builds on.

  check  report what is wrong with a profile: its schema, sources, unknown claims, and claims that exclude each other
  new    write a commented profile to start from

A name belongs to the shipped profile, then to one that an installed package offers by an entry point of the group
`wire_conformance.profiles`. A file of your own needs another name than the shipped profiles.
"""

import argparse
import os
import re
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from conformance import artifacts, profiles
from conformance.arguments import add_action
from conformance.errors import Unusable
from conformance.profiles import Profile, review
from conformance.reporting.text import plural
from conformance.terminal import print_error

EXAMPLES: Final = """\
  conformance profile new my-gateway --extends vllm --out my-gateway.yaml
  conformance profile check my-gateway.yaml
  conformance list claims --provider ./my-gateway.yaml
  conformance check --provider ./my-gateway.yaml traffic.jsonl"""

_NAME: Final = re.compile(r"[\w.-]{1,100}", re.ASCII)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=argparse.ArgumentParser
    )
    check = add_action(actions, "check", "report what is wrong with a profile; exits 1 for claims that exclude others")
    check.add_argument("file", metavar="FILE", type=Path, help="the YAML file of the profile")
    check.set_defaults(run=_check)
    new = add_action(actions, "new", "write a commented profile to start from")
    new.add_argument("name", metavar="NAME", help="the name of the profile, such as my-gateway")
    new.add_argument("--extends", metavar="PROVIDER", default="", help="the profile that it builds on")
    new.add_argument("--out", metavar="FILE", type=Path, help="where to write (default: standard output)")
    new.set_defaults(run=_new)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action."""
    code: int = arguments.run(arguments)
    return code


def _check(arguments: argparse.Namespace) -> int:
    path: Path = arguments.file
    errors = profiles.errors(path)
    if errors:
        for error in errors:
            print_error(str(error))
        return 2
    profile = profiles.load_profile(path)
    print(f"{profile.name}: {_counted(profile)}")
    found = [
        f"{f'models/{each.model}: ' if each.model else ''}{each.message}" for each in review.contradictions(profile)
    ]
    for message in found:
        print(f"problem: {message}")
    if not found:
        # Imported here because it plays the whole suite, which no other action needs.
        from conformance.suite.mirror import problems

        found = list(problems(profile))
        for message in found:
            print(f"problem: the simulator of this profile fails the suite: {message}")
    if profile.extends:
        base = profile.extends[0]
        own = {name: each for name, each in profile.claims.items() if not each[0].origin}
        for name in review.unchanged(own, _base(path)):
            print(f"note: {name}: the claim changes nothing: {base} makes it already")
    print(plural(len(found), "problem"))
    return int(bool(found))


def _base(path: Path) -> Profile:
    """Return the profile that another one directly builds on."""
    from conformance.documents import read_yaml

    name: str = read_yaml(path).value["extends"]
    return profiles.read(path.parent / name) if profiles.is_path(name) else profiles.load(name)


def _counted(profile: Profile) -> str:
    """Return how many claims a profile makes, and where they come from."""
    holders = (profile.claims, *(model.claims for model in profile.models))
    origins = Counter(history[0].origin or profile.name for claims in holders for history in claims.values())
    shown = ", ".join(f"{origins[name]} of {name}" for name in (profile.name, *profile.extends))
    return plural(origins.total(), "claim") + (f" ({shown})" if profile.extends else "")


def _new(arguments: argparse.Namespace) -> int:
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
    print(f"wrote {arguments.out}; check it with `conformance profile check {arguments.out}`", file=sys.stderr)
    return 0


def _seen_from(base: str, out: Path | None) -> str:
    """Return the text that names the base in a file: a path is relative to that file."""
    if out is None or not profiles.is_path(base):
        return base
    return f"./{os.path.relpath(base, out.parent)}"


_EXTENDS: Final = """\
# Every claim of this profile holds here, unless you make one of that name below; `conformance list claims` shows which
# claim is from where.
extends: {base}
"""
_NO_BASE: Final = """\
# The profile that this one builds on: a provider's name or a path. Its claims hold unless you make them below.
# extends: vllm
"""
_TEMPLATE: Final = """\
# A profile: what is claimed of the wire of one provider, gateway or server.
# `conformance list claims` lists the claims, `conformance explain NAME` explains one, and
# `conformance profile check FILE` reports what is wrong with this file.

title: {name}

# vendor: serves its own models. host: serves models made by others. gateway: passes requests on. engine: a server.
kind: gateway
{base}
# The URL that /chat/completions is appended to, and the environment variable with the key, for `pytest --live`.
# base_url: https://gateway.example/v1
# key: MY_GATEWAY_API_KEY

# Host names by which `conformance check --provider auto` knows your traffic, for profiles of an installed package.
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
