"""What keys of well-known hosts look like, for secrets that a run does not know.

Source of the shapes: https://github.com/gitleaks/gitleaks/blob/420a0f55f4a7a03dfe701ceb1f4f66a7c68b26b4/config/gitleaks.toml
(read 2026-11-22), and the hosts' own pages about keys. Prefixes are those of the hosts; lengths are lower bounds, since
hosts change them.
"""

import re
from collections.abc import Iterator
from typing import Final

_START: Final = r"(?<![A-Za-z0-9_])"
_LONE_START: Final = r"(?<![\w-])"

_SHAPES: Final = (
    (("sk-",), _START + r"sk-[\w-]{16,}"),  # OpenAI, Anthropic, DeepSeek, Moonshot, OpenRouter and others
    (("gsk_",), _START + r"gsk_\w{20,}"),  # Groq
    (("xai-",), _START + r"xai-\w{20,}"),  # xAI
    (("AIza", "AQ.", "ya29."), _START + r"(?:AIza[\w-]{35}|AQ\.[\w-]{30,}|ya29\.[\w-]{20,})"),  # Google
    (("hf_",), _START + r"hf_[A-Za-z0-9]{30,}"),  # Hugging Face
    (("nvapi-",), _START + r"nvapi-[\w-]{20,}"),  # NVIDIA
    (("pplx-",), _START + r"pplx-[A-Za-z0-9]{40,}"),  # Perplexity
    (("csk-",), _START + r"csk-[a-z0-9]{32,}"),  # Cerebras
    (("fw_",), _START + r"fw_[A-Za-z0-9]{20,}"),  # Fireworks
    (("tgp_v1_",), _START + r"tgp_v1_[\w-]{20,}"),  # Together
    (("r8_",), _START + r"r8_[A-Za-z0-9]{30,}"),  # Replicate
    (("dapi",), _START + r"dapi[a-f0-9]{32}"),  # Databricks
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _START + r"gh[opsur]_[A-Za-z0-9]{36,}"),  # GitHub
    (("github_pat_",), _START + r"github_pat_\w{60,}"),
    (("xox",), _START + r"xox[abeoprs]-[\w-]{20,}"),  # Slack
    (("AKIA", "ASIA", "ABIA"), _START + r"(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}"),  # AWS
    (("ABSK",), _START + r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),  # Bedrock
    (("LTAI",), _START + r"LTAI[A-Za-z0-9]{20}"),  # Alibaba Cloud
    (("eyJ",), _LONE_START + r"eyJ[\w-]{14,}\.eyJ[\w-]{14,}\.[\w-]{10,}={0,2}"),  # JSON Web Tokens
    (
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\w\s+/=\\]{40,}-----END [A-Z ]{0,20}PRIVATE KEY-----",
    ),
    # The value of an Authorization header in prose; a word without a digit is not a key.
    (("earer ", "asic "), r"(?<=[Bb]earer |.[Bb]asic )(?=[^\s\"']{0,60}\d)[\w.~+/-]{16,}={0,2}"),
)
"""What a text must hold for a shape to be looked for, and the shape."""

OPAQUE: Final = frozenset(
    {"id", "tool_call_id", "signature", "thought_signature", "encrypted_content", "data", "system_fingerprint"}
)
"""Members whose value is what the suites test, and may look like anything."""


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has what looks like a key."""
    for beginnings, shape in _SHAPES:
        if any(each in text for each in beginnings):
            yield from (match.span() for match in re.finditer(shape, text))
