"""Serve a simulated provider that is as strict as its profile claims.

The URL of the server is the first line of the output. Use URL/v1 as the base URL of a client, or
URL/s/<scenario>/v1 to get the replies of one scenario. All replies are simulated: they show what a client has to
handle, and prove nothing about the provider.
"""

import argparse
import sys
from typing import Final

from conformance import faults, profiles
from conformance.arguments import PROVIDER_HELP
from conformance.simulator import serve_simulator
from conformance.transport.http import is_loopback

EXAMPLES: Final = """\
  conformance serve --provider deepseek --port 0
  conformance serve --provider deepseek --fault index-zero --fault finish-stop-with-calls
  pytest --provider=deepseek --live --base-url http://127.0.0.1:8080/v1"""

LIST: Final = "list"
_OPEN: Final = "warning: anyone who can reach {host} can send requests to this server; it asks for no key"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--provider",
        metavar="PROVIDER",
        required=True,
        help=PROVIDER_HELP,
    )
    add("--port", type=int, default=8080, help="the port to listen on; 0 chooses a free one (default: 8080)")
    add("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1, loopback only)")
    add(
        "--fault",
        metavar="NAME",
        action="append",
        default=[],
        help="a fault of real servers that every reply has; repeatable. `list` lists all",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted, or list the faults."""
    if LIST in arguments.fault:
        width = max(map(len, faults.names()))
        for each in map(faults.load, faults.names()):
            print(f"{each.name:{width}}  {each.title} ({', '.join(each.wires)})")
        return 0
    chosen = [faults.load(name) for name in arguments.fault]
    profile = profiles.load_profile(arguments.provider)

    def announce(url: str) -> None:
        print(url, flush=True)
        if not is_loopback(arguments.host):
            print(_OPEN.format(host=arguments.host), file=sys.stderr, flush=True)

    serve_simulator(profile, arguments.host, arguments.port, announce, chosen)
    return 0
