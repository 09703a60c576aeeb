"""Rule ids over time: an id that was renamed still names its rule.

Everything that takes a rule id from outside asks here: selection, results, baselines, scenarios and explanations.
"""

from fnmatch import fnmatchcase
from typing import Final

RENAMED: Final = {
    "error/claimed-shape": "error/body-shape",
    "error/members-in-claimed-types": "error/code-and-param-types",
    "error/not-inside-stream": "error/no-error-in-stream",
    "error/not-inside-success": "error/no-error-in-success",
    "error/status-says-failure": "error/no-completion-in-error",
    "http/content-type-says-what-follows": "http/content-type-matches-body",
    "http/retry-after-is-readable": "http/retry-after-valid",
    "loop/batch-gated-once": "loop/approval-once-per-batch",
    "loop/broken-reply-not-taken": "loop/truncated-reply-discarded",
    "loop/calls-run-at-once": "loop/calls-run-in-parallel",
    "loop/denial-is-answered": "loop/denied-call-answered",
    "loop/failure-keeps-the-batch": "loop/failed-call-keeps-batch",
    "loop/history-goes-along": "loop/history-sent",
    "loop/nothing-beyond-the-script": "loop/no-extra-requests",
    "loop/refusal-not-repeated": "loop/rejected-request-not-retried",
    "loop/result-of-its-own-call": "loop/result-matches-call",
    "reasoning/not-under-both-names-where-refused": "reasoning/under-one-field",
    "reasoning/present-on-plain-turns-where-demanded": "reasoning/present-on-plain-turns-where-required",
    "request/calls-not-after-assistant": "request/tool-calls-not-split",
    "request/effort-known": "request/reasoning-effort-known",
    "request/id-length": "request/tool-call-id-length",
    "request/id-not-empty": "request/tool-call-id-not-empty",
    "request/id-pattern": "request/tool-call-id-pattern",
    "request/ids-of-its-own": "request/tool-call-id-native-format",
    "request/ids-unique": "request/tool-call-ids-unique",
    "request/ids-unique-in-message": "request/tool-call-ids-unique-in-message",
    "request/max-tokens-under-known-name": "request/max-tokens-field-accepted",
    "request/no-successive-same-role": "request/roles-alternate",
    "request/no-user-after-results": "request/no-user-after-tool-results",
    "request/one-assistant-at-the-end": "request/one-trailing-assistant-message",
    "request/parameters-go-together": "request/no-conflicting-parameters",
    "request/parameters-in-fixed-values": "request/parameter-values-allowed",
    "request/parameters-with-thinking": "request/parameters-allowed-with-thinking",
    "request/parts-accepted": "request/content-parts-accepted",
    "request/plain-turn-has-content": "request/assistant-message-not-empty",
    "request/reply-schema-accepted": "request/response-format-schema-accepted",
    "request/result-content-accepted": "request/tool-result-content-accepted",
    "request/results-named": "request/tool-result-name-present",
    "request/thinking-switchable": "request/thinking-switch-supported",
    "request/tool-choice-with-thinking": "request/no-forced-tool-choice-with-thinking",
    "request/tool-choice-with-tools": "request/tool-choice-only-with-tools",
    "request/tools-with-thinking": "request/no-tools-with-thinking",
    "response/choices-as-asked": "response/choice-count-matches-n",
    "response/finish-reason-says-tool-calls": "response/finish-reason-matches-tool-calls",
    "response/message-says-something": "response/message-not-empty",
    "stream/arguments-from-the-start": "stream/first-fragment-has-arguments",
    "stream/not-cut": "stream/complete",
    "tool-calls/no-calls-when-none": "tool-calls/none-choice-obeyed",
    "tool-calls/not-more-than-asked": "tool-calls/no-parallel-when-disabled",
    "transcript/history-only-grows": "transcript/history-append-only",
    "transcript/one-result-a-call": "transcript/one-result-per-call",
    "transcript/reply-comes-back": "transcript/reply-resent",
    "transcript/reply-comes-back-unchanged": "transcript/reply-resent-unchanged",
    "transcript/results-directly-follow": "transcript/results-follow-calls",
    "usage/once": "usage/reported-once",
}
"""Former ids of rules and loop facts, each with the id that it has now."""

_FORMER: Final = {new: tuple(old for old, name in RENAMED.items() if name == new) for new in RENAMED.values()}


def current_id(name: str) -> str:
    """Return the current id of a rule or loop fact; a name that is not a former id is returned unchanged."""
    return RENAMED.get(name, name)


def all_ids(rule: str) -> tuple[str, ...]:
    """Return the current id of a rule, then its former ids."""
    return rule, *_FORMER.get(rule, ())


def matches(pattern: str, rule: str) -> bool:
    """Return True if a glob matches the current id of a rule or one of its former ids."""
    return any(fnmatchcase(each, pattern) for each in all_ids(rule))
