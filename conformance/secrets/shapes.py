"""What keys of well-known hosts look like, for secrets that a run does not know.

Source of the shapes: https://github.com/gitleaks/gitleaks/blob/420a0f55f4a7a03dfe701ceb1f4f66a7c68b26b4/config/gitleaks.toml
(read 2026-11-22), and the hosts' own pages about keys. Prefixes are those of the hosts; lengths are lower bounds, since
hosts change them.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_START: Final = r"(?<![A-Za-z0-9])"

_JWT: Final = "JSON Web Token"

_SHAPES: Final = (
    # Also Anthropic, DeepSeek, Moonshot, OpenRouter and others; `sk-learn-based-pipeline` is not a key.
    ("OpenAI or the like", ("sk-",), _START + r"sk-(?!(?:[a-z]{2,12}-)+[a-z]{2,12}(?![\w-]))[\w-]{16,}"),
    ("Groq", ("gsk_",), _START + r"gsk_\w{20,}"),
    ("xAI", ("xai-",), _START + r"xai-\w{20,}"),
    ("Google", ("AIza", "AQ.", "ya29."), _START + r"(?:AIza[\w-]{35}|AQ\.[\w-]{30,}|ya29\.[\w-]{20,})"),
    ("Google", ("GOCSPX-",), _START + r"GOCSPX-[\w-]{20,}"),
    ("Hugging Face", ("hf_",), _START + r"hf_[A-Za-z0-9]{30,}"),
    ("NVIDIA", ("nvapi-",), _START + r"nvapi-[\w-]{20,}"),
    ("Perplexity", ("pplx-",), _START + r"pplx-[A-Za-z0-9]{40,}"),
    ("Cerebras", ("csk-",), _START + r"csk-[a-z0-9]{32,}"),
    ("Fireworks", ("fw_",), _START + r"fw_[A-Za-z0-9]{20,}"),
    ("Together", ("tgp_v1_",), _START + r"tgp_v1_[\w-]{20,}"),
    ("Replicate", ("r8_",), _START + r"r8_[A-Za-z0-9]{30,}"),
    ("Databricks", ("dapi",), _START + r"dapi[a-f0-9]{32}"),
    ("Tavily", ("tvly-",), _START + r"tvly-[\w-]{20,}"),
    ("Langfuse", ("pk-lf-",), _START + r"pk-lf-[a-f0-9-]{30,}"),
    ("LangSmith", ("lsv2_",), _START + r"lsv2_[a-z]{2}_[\w]{30,}"),
    ("Stripe", ("k_live_", "k_test_"), _START + r"[rs]k_(?:live|test)_\w{16,}"),
    ("ElevenLabs", ("sk_",), _START + r"sk_[a-f0-9]{40,}"),
    ("GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _START + r"gh[opsur]_[A-Za-z0-9]{36,}"),
    ("GitHub", ("github_pat_",), _START + r"github_pat_\w{60,}"),
    ("GitLab", ("glpat-",), _START + r"glpat-[\w-]{20,}"),
    ("npm", ("npm_",), _START + r"npm_[A-Za-z0-9]{36}"),
    ("PyPI", ("pypi-",), _START + r"pypi-[\w-]{50,}"),
    ("Slack", ("xox", "xapp-"), _START + r"(?:xox[abeoprs]|xapp)-[\w-]{20,}"),
    ("SendGrid", ("SG.",), _START + r"SG\.[\w-]{20,24}\.[\w-]{39,50}"),
    ("AWS", ("AKIA", "ASIA", "ABIA"), _START + r"(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}"),
    ("Bedrock", ("ABSK",), _START + r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    ("Alibaba Cloud", ("LTAI",), _START + r"LTAI[A-Za-z0-9]{20}"),
    # The first part says that it is one, also where the rest is cut.
    (
        _JWT,
        ("eyJ",),
        _START + r"eyJ(?:[\w-]{14,}\.eyJ[\w-]{14,}\.[\w-]{10,}|(?:hbGci|0eXAi|raWQi)[\w-]{8,}(?:\.[\w-]*){0,2})={0,2}",
    ),
    (
        "private key",
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\w\s+/=\\]{40,}-----END [A-Z ]{0,20}PRIVATE KEY-----",
    ),
    # The value of an Authorization header in prose; a word without a digit is not a key.
    (
        "value of an authorization header",
        ("earer ", "asic "),
        r"(?<=[Bb]earer |.[Bb]asic )(?=[^\s\"']{0,60}\d)[\w.~+/-]{16,}={0,2}",
    ),
)
"""What has the shape, what a text must hold for it to be looked for, and the shape."""

_BY_BEGINNING: Final = {each: number for number, shape in enumerate(_SHAPES) for each in shape[1]}

BLOBS: Final = frozenset(
    {"b64_json", "data", "encrypted_content", "signature", "thought_signature", "thoughtSignature"}
)
"""Members whose values are long and random; a shape that a part of one has by chance is not a key."""

MAX_KEY: Final = 256
"""The length of the longest value of such a member that may be a key as a whole."""


class Shape(NamedTuple):
    """Something that looks like a key: where it is in a text, and whose it is."""

    start: int
    end: int
    kind: str


def may_hold(text: str) -> bool:
    """Return whether a text has the beginning of something that looks like a key."""
    return any(each in text for each in _BY_BEGINNING)


def spans(text: str) -> Iterator[Shape]:
    """Yield where a text has what looks like a key."""
    present = [each for each in _BY_BEGINNING if each in text]
    for number in dict.fromkeys([_BY_BEGINNING[each] for each in present]) if present else ():
        owner, _, shape = _SHAPES[number]
        kind = owner if owner[0].islower() or owner == _JWT else f"key of {owner}"
        for match in re.finditer(shape, text):
            yield Shape(*match.span(), kind)


def is_key(text: str) -> bool:
    """Return whether the whole of a text looks like a key, and not like a signed token, as signatures may."""
    return len(text) <= MAX_KEY and any(
        [(each.start, each.end) == (0, len(text)) and each.kind != _JWT for each in spans(text)]
    )
