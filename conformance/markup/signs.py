"""The kinds of leaked markup, and the cheap searches that decide whether a text is looked at for any.

They need neither the families nor their patterns, which are loaded when a text first shows a sign.
"""

import re
from typing import Final

CALL: Final = "tool call"
REASONING: Final = "reasoning"
TOKEN: Final = "special token"  # noqa: S105 — a token of a model's vocabulary
REMAINS: Final = "remains of a tool call"

_ANGLE: Final = re.compile(
    r"<\s?(?:/?\s?[|｜]|/?(?:tool|thin|thought|func|invoke|param|arg_|mm:|minimax|seed:|ifm\||longcat|steptml|atem|iquest|dots_"
    r"|antml|TOOLCALL|AVAILABLE|SPECIAL|scratch_pad|answer>|start_of|end_of|beginning_of|start_func|end_func|escape>|bos>|eos>"
    r"|sop>|eop>|s>|role>|environment>)|\w{1,20}\|>)"
)
_BRACKET: Final = re.compile(
    r"\[(?:/?(?:TOOL|THINK\]|INST\]|SYSTEM_PROMPT|AVAILABLE_)|ARGS\]|CALL_ID\]|MODEL_SETT|gMASK\]|EO[ST]\]|e~\[|\|\w+\|\]"
    r"|Round \d+\] USER|Calling tool:)|\][~<]"
)
_WORDS: Final = ("functions.", "assistant", "call:", ">>>", " name=", "functools[", "Action:", "tool_call")
"""Each phrase holds one of them, or begins as a bracket does; looking for words is faster than for phrases."""

_PHRASE: Final = re.compile(
    r"functions\.[\w-]+:\d|to=functions\.|assistant(?:final|commentary|analysis)\S|call:[\w.-]+\{|>>>(?:all\n|[A-Za-z_])"
    r"|(?:invoke|parameter) name=|functools\[|Action:\s*(?:```|[\[{])|tool_call"
)
"""What the words stand in if they are markup."""
_HEADS: Final = ("thought\n", "analysis", "Here is my thought process:", ">")
_ENDS: Final = frozenset("}])`;>")
"""How a text ends that is a call, or closes with one."""


def may_leak(text: str) -> bool:
    """Return whether a text may hold markup; most have none of its signs, and cost nothing more."""
    if "<" in text and _ANGLE.search(text) is not None:
        return True
    if ("[" in text or "]" in text) and _BRACKET.search(text) is not None:
        return True
    # A list, not a generator: that takes half the time.
    if any([word in text for word in _WORDS]) and _PHRASE.search(text) is not None:
        return True
    return text[:40].lstrip().startswith(_HEADS)


def closes_a_call(text: str) -> bool:
    """Return whether a text ends as a call does, or with something that closes one."""
    return text[-20:].rstrip()[-1:] in _ENDS


def may_end_with_markup(arguments: str) -> bool:
    """Return whether the text of arguments may have markup at an end of a value; most have none of the signs."""
    return "</" in arguments or "|>" in arguments or "｜>" in arguments or "[>[" in arguments
