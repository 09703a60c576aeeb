"""The environment variables that direct SDKs and agents to the proxy.

Sources, read 2026-11-22: the READMEs and sources of openai-python and openai-node (OPENAI_BASE_URL), langchain-openai
(OPENAI_API_BASE), anthropic-sdk-python and Claude Code (ANTHROPIC_BASE_URL), python-genai and Gemini CLI
(GOOGLE_GEMINI_BASE_URL), LiteLLM (`<PROVIDER>_API_BASE`).
"""

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from conformance.profiles import Profile

_KEYS = ("_API_KEY", "_ACCESS_KEY", "_KEY", "_TOKEN")
_NO_PROXY = ("NO_PROXY", "no_proxy")


def base_path(upstream: str, profile: Profile | None) -> str:
    """Return the path of the base URL of chat completions at a provider: as given, else of the profile, else `/v1`."""
    given = urlsplit(upstream)
    if given.path.strip("/"):
        return given.path.rstrip("/")
    known = urlsplit(profile.base_url) if profile is not None else None
    return known.path.rstrip("/") if known is not None and known.hostname == given.hostname else "/v1"


def variables(url: str, path: str, profile: Profile | None) -> Mapping[str, str]:
    """Return the variables for a command; `url` is that of the proxy, `path` that of chat completions there."""
    found = dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), url + path)
    # These SDKs add the version to the path themselves.
    found["ANTHROPIC_BASE_URL"] = url + path.removesuffix("/v1")
    found["GOOGLE_GEMINI_BASE_URL"] = url + path.removesuffix("/openai").removesuffix("/v1beta").removesuffix("/v1")
    if profile is not None and (name := _prefix(profile.key)):
        found[f"{name}_API_BASE"] = url + path
    host = urlsplit(url).hostname or ""
    return found | dict(_without_proxy(host))


def _prefix(key: str) -> str:
    """Return how the variables of a provider begin, by the name of the one that holds its key."""
    return next((key.removesuffix(end) for end in _KEYS if key.endswith(end)), "")


def _without_proxy(host: str) -> Iterator[tuple[str, str]]:
    """Yield the lists of hosts that a command must not reach through a further proxy, with that of this one."""
    for name in _NO_PROXY:
        listed = [each for each in os.environ.get(name, "").split(",") if each]
        if listed != ["*"]:
            yield name, ",".join(dict.fromkeys([*listed, host]))
