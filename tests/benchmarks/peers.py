"""What is measured: the checker by both front doors, and peers that do less, over the same bytes."""

import contextlib
import io
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pydantic

from conformance import Exchange, check, load_profile
from conformance.cli import main
from conformance.schemas import slow_validator, validator
from tests.benchmarks.corpus import Sample, Session

PROVIDER = "deepseek"
FLOOR = "orjson.loads"
LINES_FLOOR = "orjson.loads of lines"


class Part(NamedTuple):
    """A part of a corpus: its sessions, and the file with the lines of the whole corpus."""

    sessions: list[Session]
    path: Path

    @property
    def samples(self) -> list[Sample]:
        """Return the exchanges of all sessions."""
        return [sample for session in self.sessions for sample in session]


def loads(part: Part) -> None:
    for sample in part.samples:
        for document in sample.documents:
            orjson.loads(document)


def loads_lines(part: Part) -> None:
    with part.path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    for sample in part.samples:
        for event in sample.events:
            orjson.loads(event)


def by_check(part: Part, provider: str | None = None) -> None:
    profile = None if provider is None else load_profile(provider)
    for session in part.sessions:
        check([Exchange(each.request, each.reply, each.status) for each in session], profile)


def by_command(part: Part, provider: str | None = None) -> None:
    options = () if provider is None else ("--provider", provider)
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["check", "--format", "jsonl", *options, str(part.path)]) in (0, 1)


def jsonschema_rs(part: Part) -> None:
    _validate(part, *[validator(f"canonical/{name}").is_valid for name in ("request", "response", "chunk")])


def jsonschema(part: Part) -> None:
    _validate(part, *[slow_validator(f"canonical/{name}").is_valid for name in ("request", "response", "chunk")])


def _validate(part: Part, *validators: Callable[[Any], bool]) -> None:
    request, response, chunk = validators
    for sample in part.samples:
        request(orjson.loads(sample.request))
        for event in sample.events:
            chunk(orjson.loads(event))
        if not sample.events and sample.status == 200:
            response(orjson.loads(sample.reply))


@cache
def _request_model() -> "pydantic.TypeAdapter[Any]":
    # Imported here and below because it takes a second, which would delay every run of the tests.
    from openai.types.chat import CompletionCreateParams

    return pydantic.TypeAdapter(CompletionCreateParams)


def pydantic_models(part: Part) -> None:
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    for sample in part.samples:
        with contextlib.suppress(pydantic.ValidationError):
            _request_model().validate_json(sample.request)
        with contextlib.suppress(pydantic.ValidationError):
            for event in sample.events:
                ChatCompletionChunk.model_validate_json(event)
            if not sample.events:
                ChatCompletion.model_validate_json(sample.reply)


def openai_sdk(part: Part) -> None:
    """Parse replies as the SDK does: its reader of event streams, and its models without validation."""
    from openai._streaming import SSEDecoder
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    for sample in part.samples:
        if not sample.events:
            ChatCompletion.construct(**orjson.loads(sample.reply))
            continue
        for event in SSEDecoder().iter_bytes(iter([sample.reply])):
            if event.data != "[DONE]":
                ChatCompletionChunk.construct(**event.json())


PEERS: Mapping[str, Callable[[Part], None]] = {
    "jsonschema-rs": jsonschema_rs,
    "pydantic models of openai-python": pydantic_models,
    "openai SDK, replies only": openai_sdk,
    "jsonschema": jsonschema,
}
SUBJECTS: Mapping[str, Callable[[Part], None]] = {
    FLOOR: loads,
    "check": by_check,
    "check, provider": lambda part: by_check(part, PROVIDER),
    LINES_FLOOR: loads_lines,
    "command": by_command,
    "command, provider": lambda part: by_command(part, PROVIDER),
    **PEERS,
}
"""Subjects by name; the ratios of the command are to its own floor, all others to the first."""
BY_FILE = (LINES_FLOOR, "command", "command, provider")
"""Subjects that read a corpus as one file."""
