"""Play the same scenarios on several wires of one provider, and report what differs.

A provider that serves chat completions, Messages and Responses translates between them. This compares, turn by turn,
the status, text, reasoning, calls, reason for the end and tokens read; and over a whole conversation, the shape of ids
and the parallel calls. The scripted model of an engine says whether it saw its earlier reasoning, so reasoning that one
wire drops changes its text. Cassettes are compared unless --live or --base-url is given.
"""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.arguments import add_header
from conformance.errors import Unusable
from conformance.reporting.text import printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.profiles import Profile
    from conformance.suite.agreement import CaseAgreement
    from conformance.suite.run import Run

EXAMPLES: Final = """\
  conformance provider compare --provider llamacpp --protocols chat,messages,responses
  conformance provider compare --provider vllm --protocols chat,messages --format json
  conformance engine run litellm_llamacpp -- conformance provider compare --provider litellm --live"""

_WIDTH: Final = 300


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--provider", metavar="PROVIDER", required=True, help="the provider, or the path of a profile")
    add("--protocols", metavar="WIRE,WIRE", default="", help="the wires (default: all that the profile has)")
    add("--model", metavar="MODEL", default="", help="the model (default: that of the cassettes, or of the profile)")
    add("--live", action="store_true", help="send the requests to the provider, with your key")
    add("--base-url", metavar="URL", default="", help="send the requests to this server instead")
    add_header(parser)
    add("--cassettes", metavar="DIR", default="", help="the folder of cassettes (default: those of this project)")
    add("--format", choices=("text", "json"), default="text", help="text (default) or json")


def run(arguments: argparse.Namespace) -> int:
    """Print the differences; return 1 if there are any, and 5 if nothing was compared."""
    # Imported here because these modules load httpx and vcrpy, which --help does not need.
    from conformance.suite.agreement import agreement

    with ExitStack() as stack:
        runs = _runs(arguments, stack)
        found = list(agreement(runs))
        evidence = sorted({each.evidence.value for each in runs.values()})
        models = sorted({each.model for each in runs.values()})
    compared = [each for each in found if not each.left_out]
    if arguments.format == "json":
        print(_as_json(arguments.provider, runs, evidence, found))
    else:
        title = f"{arguments.provider}: {', '.join(runs)}; model {', '.join(models)}; evidence: {', '.join(evidence)}"
        print("\n".join(map(printable, [title, *_lines(found), _count(found)])))
    if not compared:
        return 5
    return int(any(each.differences for each in compared))


def _runs(arguments: argparse.Namespace, stack: ExitStack) -> "dict[str, Run]":
    from datetime import UTC, datetime

    from conformance import profiles
    from conformance.resources import folder
    from conformance.suite.options import Options, headers_of, with_environment
    from conformance.suite.run import Run

    profile = profiles.load_profile(arguments.provider)
    wires = [each.strip() for each in arguments.protocols.split(",") if each.strip()] or profile.wires
    if len(set(wires)) < 2:
        raise Unusable(
            f"--protocols: name at least two wires; the profile {profile.name} has {', '.join(profile.wires)}"
        )
    cassettes = Path(arguments.cassettes) if arguments.cassettes else folder("cassettes")
    today = datetime.now(tz=UTC).date().isoformat()
    is_replay = not (arguments.live or arguments.base_url)
    model = arguments.model or (_recorded_model(profile, wires, cassettes) if is_replay else "")
    runs = {}
    for wire in dict.fromkeys(wires):
        options = Options(
            arguments.provider,
            cassettes,
            today,
            model=model,
            live=arguments.live,
            base_url=arguments.base_url,
            protocol=wire,
            headers=headers_of(arguments.header),
        )
        runs[wire] = Run(with_environment(options))
        stack.callback(runs[wire].close, is_done=False)
    return runs


def _recorded_model(profile: "Profile", wires: "Sequence[str]", cassettes: Path) -> str:
    """Return a model that was recorded on all wires, that of the profile first; empty if there is none."""
    from conformance.suite.options import on_wire
    from conformance.transport.shelf import CassetteFolder

    first, *others = [CassetteFolder(cassettes, on_wire(profile, wire).name).manifest() for wire in wires]
    shared = [name for name in first if all([name in each for each in others])]
    return profile.model if profile.model in shared else next(iter(shared), "")


def _lines(found: "list[CaseAgreement]") -> "Iterator[str]":
    """Yield each difference once, with the turns in which it was seen, then what was not compared."""
    places: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
    for case in found:
        for each in case.differences:
            turn = f" turn {each.turn}" if each.turn else ""
            places.setdefault((each.what, tuple(each.values.items())), []).append(f"{case.case}{turn}")
    for (what, values), seen in places.items():
        yield ""
        yield f"{what} differs"
        width = max([len(wire) for wire, _ in values])
        yield from [f"  {wire:{width}}  {value[:_WIDTH]}" for wire, value in values]
        yield f"  {'in':{width}}  {', '.join(seen)}"
    yield ""
    yield from [f"not compared: {case.case}: {case.left_out}" for case in found if case.left_out]


def _count(found: "list[CaseAgreement]") -> str:
    compared = [each for each in found if not each.left_out]
    differ = [each for each in compared if each.differences]
    return f"{len(compared)} of {len(found)} cases compared, {len(differ)} differ"


def _as_json(provider: str, runs: "dict[str, Run]", evidence: list[str], found: "list[CaseAgreement]") -> str:
    import orjson

    value = {
        "provider": provider,
        "models": {wire: each.model for wire, each in runs.items()},
        "evidence": evidence,
        "cases": found,
    }
    return printable_json(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())
