"""The options that the pytest plugin adds.

The plugin imports this module in every pytest run of an environment, so it imports nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "provider": {
        "metavar": "NAME",
        "default": "",
        "help": "Run the conformance suites against this provider, e.g. deepseek "
        "(see `conformance explain providers`), or by the profile in a file, e.g. ./my-gateway.yaml. "
        "Recorded replies are replayed unless --live or --base-url is given.",
    },
    "protocol": {
        "metavar": "WIRE",
        "default": "",
        "help": "The wire to speak: chat (chat completions), messages, responses or gemini, if the profile has claims "
        "about it (default: chat, or the first wire of a provider without chat completions).",
    },
    "variant": {
        "choices": ("plain", "stream"),
        "default": "",
        "help": "Play only plain or only streamed replies. The results say so, and `conformance gate` takes them with "
        "--partial.",
    },
    "model": {"metavar": "NAME", "default": "", "help": "Model to request (default: the one that the profile names)."},
    "live": {
        "action": "store_true",
        "help": "Send requests to the provider's API. The key is read from the environment variable that the profile "
        "names, e.g. DEEPSEEK_API_KEY.",
    },
    "base-url": {
        "metavar": "URL",
        "default": "",
        "help": "Send requests to this server, e.g. http://127.0.0.1:8000/v1. The key, if any, is read from "
        "CONFORMANCE_API_KEY.",
    },
    "header": {
        "metavar": "NAME:VALUE",
        "action": "append",
        "default": [],
        "help": "A header of each request of a live run, for gateways that need their own, e.g. 'x-portkey-provider: "
        "openai'. Its value is never written or printed. Repeatable.",
    },
    "record": {
        "action": "store_true",
        "help": "Write the replies to cassettes: the provider's with --live, otherwise the simulator's.",
    },
    "resume": {
        "action": "store_true",
        "help": "Go on with a recording that was interrupted; what it holds is not sent again.",
    },
    "cassettes": {
        "metavar": "DIR",
        "type": Path,
        "help": "Folder of cassettes to replay or record (default: those of this project).",
    },
    "evidence": {
        "choices": ("recorded",),
        "default": "",
        "help": "recorded: check each recording of the provider in the public index instead of cassettes; "
        "`conformance evidence fetch` fetches them.",
    },
    "results": {"metavar": "DIR", "type": Path, "help": "Write the results to DIR/<provider>.json."},
    "matrix": {
        "action": "store_true",
        "help": "End with the whole compatibility matrix, fitted to the terminal (COLUMNS), instead of only what does "
        "not conform.",
    },
    "expected": {
        "metavar": "FILE",
        "type": Path,
        "help": "YAML file of expected failures; they are reported as xfail (default: this project's file when its "
        "own cassettes are replayed, otherwise none).",
    },
    "allow-wide-baseline": {
        "action": "store_true",
        "help": "Accept expected failures that match more than a tenth of the checks of the run.",
    },
    "repeat": {
        "metavar": "N",
        "type": int,
        "default": 1,
        "help": "Run each case N times to measure how reliable the model is; needs --live or --base-url.",
    },
    "thinking": {
        "metavar": "MODE",
        "choices": ("on", "off", "auto"),
        "default": "",
        "help": "on or off: the run takes it that the model thinks or does not, and requests it where the profile "
        "knows how. auto: the run first asks one plain question and looks whether the reply shows reasoning (default "
        "of a live run if the profile does not know the thinking mode of the model).",
    },
    "claim": {
        "metavar": "NAME=VALUE",
        "action": "append",
        "default": [],
        "help": "A claim of this run over those of the profile, e.g. reasoning.response-field=reasoning; VALUE is "
        "YAML. Repeatable. `conformance explain claims` lists the names.",
    },
    "strict": {
        "action": "store_true",
        "help": "Fail on recommendations (SHOULD) that the provider does not meet; by default they are warnings. "
        "pytest has a --strict of its own, so this option has only its full name.",
    },
    "only-unknown": {
        "action": "store_true",
        "help": "Send only the fewest requests that settle what is unknown or contested of the core facts; needs "
        "--live or --base-url, and --results DIR: DIR/<provider>.unknown.jsonl gets the exchanges without secrets, and "
        "`conformance evidence add` checks that file. With --plan, only list the requests.",
    },
    "plan": {"action": "store_true", "help": "List the requests and tokens that the run would cost, and send nothing."},
    "max-requests": {
        "metavar": "N",
        "type": int,
        "help": "Do not send more than N requests. A run that needs more exits with code 4 before it sends any. If "
        "replies that had to be asked for again spend them, the rest is untested and the run fails.",
    },
    "request-timeout": {
        "metavar": "SECONDS",
        "type": float,
        "default": 120.0,
        "help": "Time for one request, from sending it to the last byte of its reply (default: 120). A request that "
        "takes longer costs its one probe; so does one whose reply drips in, with fewer than 200 bytes in 20 seconds.",
    },
    "max-time": {
        "metavar": "SECONDS",
        "type": float,
        "default": 7200.0,
        "help": "Time for the whole live run (default: 7200, two hours; inf for no limit); nothing is sent after it. "
        "Results so far are kept, the rest is untested, and the run fails. A run also ends after three timeouts in a "
        "row.",
    },
}
"""The options by name, with the attributes for pytest's parser."""
