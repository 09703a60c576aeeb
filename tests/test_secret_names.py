"""Which names, texts and URLs say that something is a secret, and which only look as if they did."""

import json
from base64 import b64encode

from conformance.secrets import REDACTED, Scrubber, names, scrubber
from tests.loops import every

SECRET = "Kx81-qLm_22-vB9z"
SECRET_NAMES = (
    "x-goog-api-key apiKey APIKey aws_secret_access_key authorization_token Ocp-Apim-Subscription-Key api_keys token "
    "accessToken x-auth client_secret Helicone-Auth x-portkey-virtual-key x-litellm-key authtoken HF_TOKEN id_token "
    "x-amz-security-token private_key vertex_credentials Set-Cookie DB_PASSWORD secretAccessKey basic_auth"
)
OTHER_NAMES = (
    "max_tokens token_count author authors key_points monkey keyboard tokens prompt_cache_key tokenizer pageToken "
    "next_page_token stop_token token_type auth_type authority password_length secret_name primary_key eos_token "
    "idempotency_key time_to_first_token turkey hockey keys keywords key_id tool_choice authenticate tokens_per_second"
)
WITH_SECRET = (
    f"export ANTHROPIC_API_KEY='{SECRET}'",
    f"curl -H 'x-api-key: {SECRET}' https://h",
    f'{{\\"api_key\\": \\"{SECRET}\\"}}',
    f'client = OpenAI(api_key="{SECRET}")',
    f"serve --api-key {SECRET} --model x",
    f"GET /x?auth={SECRET}&n=1",
    f"Cookie: sid={SECRET}; theme=dark",
    f"AccountKey={SECRET};EndpointSuffix=core.windows.net",
    f"headers={{'Authorization': 'Token {SECRET}'}}",
    f"postgres://admin:{SECRET}@db:5432/x",
    f"redis://:{SECRET}@h:6379/0",
    f"https://h/callback#access_token={SECRET}",
    f"https:\\/\\/h\\/x?api_key={SECRET}",
    json.dumps({"tools": [{"type": "mcp", "headers": {"X-Team": [SECRET]}}]}),
    json.dumps({"env": [{"name": "GROQ_API_KEY", "value": SECRET}]}),
    json.dumps({"oauth": {"credentials": {"value": SECRET}}}),
    json.dumps({"attributes": [{"key": "http.request.header.x_team", "value": {"stringValue": SECRET}}]}),
    json.dumps({"reqheaders": {"x-team": SECRET}}),
)
WITHOUT = (
    "max_tokens: 4096tokens",
    "authors: ann1998xyz",
    "The token: it is a word.",
    "next_page_token=abcd1234efgh",
    "https://h/image.png?width=400&key_points=3x4x5",
    'prompt_cache_key: "user-12345-abc"',
    "sk-learn-based-pipeline-stage-two",
    '{"api_key": "${API_KEY}", "password": "string", "authorization": "required"}',
    "api_key=os.environ['X']",
    json.dumps({"properties": {"password": {"type": "string", "description": "at least 8 of a1b2c3d4"}}}),
    json.dumps({"logprobs": {"content": [{"token": "abc12345", "logprob": -1, "top_logprobs": []}]}}),
    json.dumps({"signature": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVm"}),
    json.dumps({"id": "call_0a1b2c3d4e5f60718293", "model": "claude-3-5-sonnet-20241022-v2"}),
    json.dumps({"response": {"headers": {"x-request-id": "req_0a1b2c3d4e5f", "cf-ray": "9a1b2c3d-FRA"}}}),
)


@every("name", SECRET_NAMES.split())
def test_a_name_of_a_secret_is_recognised_by_its_words(name: str) -> None:
    assert names.is_secret(name)


@every("name", OTHER_NAMES.split())
def test_a_name_that_only_has_such_a_word_in_it_is_not(name: str) -> None:
    assert not names.is_secret(name)


@every("text", WITH_SECRET)
def test_what_stands_under_the_name_of_a_secret_is_removed(text: str) -> None:
    found = Scrubber().text(text)
    assert SECRET not in found
    assert REDACTED in found


@every("text", WITHOUT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert text == Scrubber().text(text)


def test_a_signed_url_is_reduced_to_host_and_path() -> None:
    for query in (
        f"X-Amz-Credential=a&X-Amz-Signature={SECRET}",
        f"sv=1&se=2&sig={SECRET}",
        f"Expires=1&token={SECRET}",
    ):
        assert "See https://b.host.com/k.png, please" == Scrubber().text(
            f"See https://b.host.com/k.png?{query}, please"
        )


def test_different_secrets_have_different_placeholders() -> None:
    given = json.dumps([{"api_key": f"{SECRET}a"}, {"api_key": f"{SECRET}b"}, {"password": f"{SECRET}a"}])
    assert [{"api_key": "[redacted]"}, {"api_key": "[redacted-2]"}, {"password": "[redacted]"}] == json.loads(
        Scrubber().text(given)
    )


WRITTEN = "Zq7Rk2Lm9Xw4Tb6Vn1Yc8Pd3"
FORMS = (
    f"curl -u user:{WRITTEN} https://api.example/v1",
    f"AWS4-HMAC-SHA256 Credential=x/aws4_request, SignedHeaders=host, Signature={'a1b2c3d4' * 8}",
    f"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.{WRITTEN}, openai-beta.realtime-v1",
    f"machine api.example login me password {WRITTEN}",
    f'--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\n{WRITTEN}\r\n--b--\r\n',
    f"https://api.example/r?next=https%253A%252F%252Fy%252F%253Fapi_key%253D{WRITTEN}",
    json.dumps({"args": ["mcp", "--api-key", WRITTEN]}),
    json.dumps({"blob": b64encode(json.dumps({"api_key": WRITTEN}).encode()).decode()}),
)
"""Secrets that neither their shape nor the name of a member shows."""


def test_secrets_in_forms_of_their_own_are_removed() -> None:
    for text in FORMS:
        shown = scrubber().text(text)
        assert "redacted" in shown, text
        assert WRITTEN not in shown
        assert "a1b2c3d4" not in shown
    for text in ("curl -u name: https://x", '{"args": ["--max-tokens", "8000"]}', "login with a password of your own"):
        assert text == scrubber().text(text)
