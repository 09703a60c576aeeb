"""The `conformance` command: each verb is one file or folder in the folder of its group.

This module answers what needs no verb at once, and turns how a verb ends into an exit code.
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 plus the number of the signal, as in shells."""

_ENDED_BY_SIGNALS = (129, 143)
"""The exit codes after SIGHUP and SIGTERM, where a command ends its processes first."""

OUTPUT_CLOSED = 141
"""The exit code if the reader closed the output early: 128 plus the number of SIGPIPE."""

_GC_THRESHOLD = 100_000
"""How many new objects start a garbage collection; most objects here are modules and rules, which stay alive."""


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run the command with these arguments, by default those of the process, and return its exit code.

    No mistake of a user ends in a traceback; the error is one line on standard error.
    """
    before = gc.get_threshold()
    gc.set_threshold(_GC_THRESHOLD)
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        # sys.stdout is None if the caller has closed it.
        if sys.stdout is not None:
            sys.stdout.flush()
        if argv is None and code in _ENDED_BY_SIGNALS:
            _ignore_signals()
    except KeyboardInterrupt:
        if argv is None:
            _ignore_signals()
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return OUTPUT_CLOSED
    except OSError as error:
        _discard_output()
        # Imported here because a run without an error needs none of it.
        from conformance.cli._verbs import UNUSABLE
        from conformance.terminal import print_error

        print_error(f"{error.filename or 'the output'}: {error.strerror or error}")
        return UNUSABLE
    finally:
        gc.set_threshold(*before)
        if argv is None:
            # The process ends here; a last garbage collection would take a tenth of a short run.
            gc.freeze()
    return code


def _run(arguments: list[str]) -> int:
    _escape_what_the_terminal_cannot_show()
    if arguments in (["-h"], ["--help"], ["--version"]):
        from conformance.cli import _overview

        print(_overview.version() if arguments == ["--version"] else _overview.help_text().rstrip())
        return 0
    from conformance.cli import _verbs

    return _verbs.run(arguments)


def _escape_what_the_terminal_cannot_show() -> None:
    """Print escapes instead of failing for characters that the encoding of the output lacks."""
    for stream in (sys.stdout, sys.stderr):
        # Callers may have replaced the streams, as pytest does, by some that cannot be reconfigured.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _ignore_signals() -> None:
    """Let nothing interrupt the end of the process, which takes milliseconds: that would show a traceback."""
    # Imported here because only an interrupted run needs it.
    import signal

    for number in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, number):
            signal.signal(getattr(signal, number), signal.SIG_IGN)


def _discard_output() -> None:
    """Redirect standard output to nowhere, because the interpreter flushes it again at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return
