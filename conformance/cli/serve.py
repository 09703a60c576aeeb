"""Play a strict provider on loopback: it refuses what its profile claims to be refused.

The URL is the first line of the output. Give clients URL/v1 as their base URL, or URL/s/<scenario>/v1 to play one
scenario. The replies are simulated: they show what a client has to cope with, and prove nothing of the provider.
"""

import argparse
import threading
from typing import Final

from conformance import profiles
from conformance.simulator import simulated

EXAMPLES: Final = """\
  conformance serve --provider deepseek --port 0
  pytest --provider=deepseek --live --base-url http://127.0.0.1:8080/v1"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--provider", metavar="P", required=True, help="whom to play; see `conformance list providers`")
    parser.add_argument("--port", type=int, default=8080, help="where to listen; 0 takes a free port (default: 8080)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1, loopback only)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    with simulated(profiles.load(arguments.provider), arguments.host, arguments.port) as url:
        print(url, flush=True)
        threading.Event().wait()
    return 0
