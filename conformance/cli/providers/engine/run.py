"""Start an engine, and stop it when the command after -- ends or on Ctrl-C.

The command gets CONFORMANCE_BASE_URL and CONFORMANCE_MODEL, which the test suites read if --live is given. Its exit
code is that of this command.
"""

import argparse
from typing import Final

from conformance import processes
from conformance.cli import _engines

EXAMPLES: Final = """\
  conformance engine run llamacpp -- pytest --provider=llamacpp --live
  conformance engine run mlx_lm --template kimi --port 8080"""

TAKES_COMMAND: Final = True
"""The arguments after `--` are the user's command, in `arguments.command`."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", metavar="ENGINE", nargs=1, help=_engines.NAMES)
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 to listen on (default: a free one)")
    _engines.add_model(parser)
    _engines.add_folders(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve the engine, and return the exit code of the command."""
    # Imported here because these modules load httpx, which --help does not need.
    from conformance.engines import command
    from conformance.engines.serving import serving

    (definition,) = _engines.definitions(arguments)
    log = _engines.logger(definition)
    options = _engines.options(arguments)
    with processes.unwinding_on_signals(), serving(definition, options, log) as served:
        if arguments.command:
            code = command.run(arguments.command, served)
            ended = served.process.exit_code()
            if ended is not None:
                log(f"ended unexpectedly with exit code {ended}{served.process.tail()}")
            return code
        print(served.url, flush=True)
        raise served.process.failure()
