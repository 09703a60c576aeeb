"""Serve a simulated provider that is as strict as its profile claims.

The URL of the server is the first line of the output. Use URL/v1 as the base URL of a client, or
URL/s/<scenario>/v1 to get the replies of one scenario. All replies are simulated: they show what a client has to
handle, and prove nothing about the provider.
"""

import argparse
import sys
from typing import Final

from conformance import profiles
from conformance.simulator import serve_simulator
from conformance.transport.http import is_loopback

EXAMPLES: Final = """\
  conformance serve --provider deepseek --port 0
  pytest --provider=deepseek --live --base-url http://127.0.0.1:8080/v1"""

_OPEN: Final = "warning: anyone who can reach {host} can send requests to this server; it asks for no key"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add(
        "--provider",
        metavar="PROVIDER",
        required=True,
        help="the provider (see `conformance explain providers`), or the path of a profile",
    )
    add("--port", type=int, default=8080, help="the port to listen on; 0 chooses a free one (default: 8080)")
    add("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1, loopback only)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    profile = profiles.load_profile(arguments.provider)

    def announce(url: str) -> None:
        print(url, flush=True)
        if not is_loopback(arguments.host):
            print(_OPEN.format(host=arguments.host), file=sys.stderr, flush=True)

    serve_simulator(profile, arguments.host, arguments.port, announce)
    return 0
