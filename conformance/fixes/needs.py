"""What only the client knows, for findings that no patch of the request can fix."""

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

_NEEDS: Final = (
    ("transcript/calls-answered", "the result of the call: run the tool, or say that the call was not carried out"),
    ("transcript/result-answers-call", "the call that the result answers, which is in no request or reply of the file"),
    ("transcript/reply-resent-unchanged", "the reply as it was received, together with what the client has put there"),
    ("transcript/reply-resent", "the reply as it was received, in place of what the client made of it"),
    ("transcript/history-append-only", "the earlier messages: a change of them may be what the client wants"),
    ("transcript/no-user-message-lost", "where the lost message belongs"),
    ("messages/prefix-unchanged", "what came before the signed thinking, unchanged"),
    ("gemini/*signature*", "the signature that came with this part"),
    ("reasoning/*", "the reasoning of the reply, which is in no reply of the file"),
    ("responses/*state*", "the history that the server was to hold"),
    ("responses/*stored", "the history that the server was to hold"),
    ("responses/items-at-the-server", "the items that the server was to hold"),
    ("request/content-parts-accepted", "another model, or the content of the part as text"),
    ("request/tools-supported", "another model: this one takes no tools"),
    ("request/no-tools-with-thinking", "a decision: tools, or thinking"),
    ("request/last-message-*", "the message that comes next"),
    ("request/no-user-after-tool-results", "the assistant's answer to the results"),
    ("request/user-message-present", "the message of the user"),
    ("native/tool-types-accepted", "another host: this one does not take the tool"),
    ("reasoning/sent-fields-agree", "which of the two texts is the reasoning"),
    ("request/tool-names-accepted", "a name that the client maps back to its tool"),
    ("*/*not-empty*", "the text that is missing"),
)
_MAX_RULES: Final = 512
_UNKNOWN: Final = "a value that is not in the file"


@lru_cache(maxsize=_MAX_RULES)
def needed(rule: str) -> str:
    """Return what a fix of a finding would need, in words."""
    return next((words for glob, words in _NEEDS if fnmatchcase(rule, glob)), _UNKNOWN)
