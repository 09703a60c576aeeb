"""Serve a simulated provider that is as strict as its profile claims.

The URL of the server is the first line of the output. Use URL/v1 as the base URL of a client, or
URL/s/<scenario>/v1 to get the replies of one scenario. All replies are simulated: they show what a client has to
handle, and prove nothing about the provider.

With --drive, the model works with an agent's own tools: it finds among the tools of a request one that reads a file,
one that runs a command, one that lists, searches or edits, and plays the scenarios for agents with them, over files
that it places in --workdir. It asks for nothing that changes anything else: commands are cat, ls, printf and sleep.
Start the agent in the same folder. A prompt that contains the name of a scenario plays that one.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance import faults, profiles
from conformance.arguments import PROVIDER_HELP
from conformance.errors import Unusable
from conformance.simulator import serve_simulator
from conformance.terminal import print_error
from conformance.transport.http import is_loopback

if TYPE_CHECKING:
    from conformance.profiles import Profile

EXAMPLES: Final = """\
  conformance serve --provider deepseek --port 0
  conformance serve --provider deepseek --fault index-zero --fault finish-stop-with-calls
  conformance serve anthropic --drive --workdir .
  conformance serve openai --drive --workdir . --scenario resumed-session --tools read=view,shell=run
  pytest --provider=deepseek --live --base-url http://127.0.0.1:8080/v1"""

LIST: Final = "list"
_OPEN: Final = "warning: anyone who can reach {host} can send requests to this server; it asks for no key"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("name", metavar="PROVIDER", nargs="?", default="", help="the same as --provider")
    add("--provider", metavar="PROVIDER", default="", help=PROVIDER_HELP)
    add("--port", type=int, default=8080, help="the port to listen on; 0 chooses a free one (default: 8080)")
    add("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1, loopback only)")
    add(
        "--fault",
        metavar="NAME",
        action="append",
        default=[],
        help="a fault of real servers that every reply has; repeatable. `list` lists all",
    )
    add("--drive", action="store_true", help="ask for deeds, with the tools that an agent declares")
    add("--workdir", metavar="DIR", default="", help="with --drive, where files are placed, and removed in the end")
    add("--scenario", metavar="NAME", default="", help="with --drive, the scenario to play; `list` lists all")
    add(
        "--tools",
        metavar="DEED=NAME,…",
        default="",
        help="with --drive, the tools for read, shell, list, search and edit, if they are not found",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted, or list the faults."""
    if LIST in arguments.fault:
        width = max(map(len, faults.names()))
        for each in map(faults.load, faults.names()):
            print(f"{each.name:{width}}  {each.title} ({', '.join(each.wires)})")
        return 0
    if arguments.scenario == LIST:
        return _list_scenarios()
    if not (arguments.name or arguments.provider) or (arguments.name and arguments.provider):
        message = "name one provider: `conformance serve PROVIDER`; see `conformance explain providers`"
        raise Unusable(message)
    chosen = [faults.load(name) for name in arguments.fault]
    profile = profiles.load_profile(arguments.name or arguments.provider)

    def announce(url: str) -> None:
        print(url, flush=True)
        if not is_loopback(arguments.host):
            print(_OPEN.format(host=arguments.host), file=sys.stderr, flush=True)

    if arguments.drive:
        return _drive(arguments, profile, announce, chosen)
    if arguments.workdir or arguments.scenario or arguments.tools:
        message = "--workdir, --scenario and --tools are for --drive"
        raise Unusable(message)
    serve_simulator(profile, arguments.host, arguments.port, announce, chosen)
    return 0


def _list_scenarios() -> int:
    from conformance import scenarios

    width = max(map(len, scenarios.driven_names()))
    for each in map(scenarios.load_driven, scenarios.driven_names()):
        print(f"{each.name:{width}}  {each.title}")
    return 0


def _drive(
    arguments: argparse.Namespace,
    profile: "Profile",
    announce: Callable[[str], None],
    chosen: "Sequence[faults.ServerFault]",
) -> int:
    """Serve a driven model until interrupted; what it placed is removed then."""
    from conformance import scenarios
    from conformance.processes import unwinding_on_signals
    from conformance.simulator.drive.server import DEFAULT, DrivenServer
    from conformance.simulator.drive.tools import read_choices
    from conformance.simulator.faulty import with_faults
    from conformance.transport.server import serve

    if not is_loopback(arguments.host):
        raise Unusable(
            f"--drive is for loopback only, since an agent does what the server says; omit --host {arguments.host}"
        )
    if not arguments.workdir or not Path(arguments.workdir).is_dir():
        raise Unusable(
            f"--workdir {arguments.workdir or 'is missing'}: --drive needs a folder for what the agent is to read"
        )
    scenario = scenarios.load_driven(arguments.scenario or DEFAULT).name
    server = DrivenServer(profile, Path(arguments.workdir), scenario, read_choices(arguments.tools), print_error)
    # So that SIGTERM, too, leads to the end of this block.
    with unwinding_on_signals():
        try:
            serve(with_faults(server.answer, chosen), arguments.host, arguments.port, announce)
        finally:
            server.close()
    return 0
