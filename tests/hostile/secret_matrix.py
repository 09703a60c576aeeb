"""A matrix of planted secrets: what they look like, where they are in an exchange, and how the peer sends them back."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from conformance.proxy.copies import Copy
from tests.hostile.planted import ENCODINGS, SHAPES, chunk, content, event, reasoning

URL: Final = "https://api.deepseek.com/chat/completions"

HEADERS: Final = (
    "Authorization", "Proxy-Authorization", "x-api-key", "api-key", "x-goog-api-key", "Helicone-Auth",
    "x-portkey-api-key", "x-portkey-virtual-key", "x-litellm-key", "Ocp-Apim-Subscription-Key", "X-Auth",
    "X-Auth-Token", "cf-aig-authorization", "x-amz-security-token", "x-functions-key", "Cookie", "X-Unknown-Thing",
    "openai-organization",
)  # fmt: skip
MEMBERS: Final = (
    "api_key", "apiKey", "authorization", "authorization_token", "aws_secret_access_key", "client_secret", "password",
    "access_token", "secretAccessKey", "vertex_credentials", "Ocp-Apim-Subscription-Key", "x-goog-api-key",
)  # fmt: skip
PARAMETERS: Final = ("auth", "key", "api-key", "token", "access_token", "sig", "subscription-key")
SIGNED: Final = (
    "https://b.s3.amazonaws.com/k.png?X-Amz-Credential=AKIDEXAMPLE&X-Amz-Signature={}",
    "https://storage.googleapis.com/b/k.png?GoogleAccessId=a&Expires=1&Signature={}",
    "https://a.blob.core.windows.net/c/k.png?sv=2024-01-01&se=2026-01-01&sr=b&sp=r&sig={}",
    "https://d1.cloudfront.net/k.png?Expires=1&Signature={}&Key-Pair-Id=K2",
    "https://b.oss-cn-hangzhou.aliyuncs.com/k.png?OSSAccessKeyId=a&Expires=1&Signature={}",
)


class Planted(NamedTuple):
    """A secret in an exchange: its name for a failure, the secret, and the exchange as it passes a proxy."""

    name: str
    secret: str
    copy: Copy


def secret_of(number: int) -> str:
    """Return a secret that looks like no key: only its place says that it is one."""
    return f"q7Zx{number:03}-vN4m_kR8t+Lw2{number:03}yB6/hD"


def _body(**members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **members}


def _in_call(secret: str, name: str) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": json.dumps({name: secret})}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _requests(number: int) -> Iterator[tuple[str, str, str, list[tuple[str, str]], dict[str, Any]]]:
    """Yield the place, the secret, and the URL, headers and body of a request that has it there."""
    secret = secret_of(number)
    for name in HEADERS:
        value = f"Bearer {secret}" if "uthorization" in name or name == "Helicone-Auth" else secret
        yield f"header {name}", secret, URL, [(name, f"sid={value}" if name == "Cookie" else value)], _body()
    for name in MEMBERS:
        yield f"member {name}", secret, URL, [], _body(**{name: secret})
        yield f"argument {name}", secret, URL, [], _body(messages=[_in_call(secret, name)])
        server = {"type": "mcp", "server_label": "s", "server_url": "https://h/", name: secret}
        yield f"server {name}", secret, URL, [], _body(tools=[server])
    yield "headers of a server", secret, URL, [], _body(tools=[{"type": "mcp", "headers": {"X-Custom": secret}}])
    for name in PARAMETERS:
        plain = secret.replace("+", "-").replace("/", "-")
        yield f"parameter {name}", plain, f"{URL}?{name}={plain}", [], _body()
        yield f"link {name}", plain, URL, [], _body(user=f"https://h/x?{name}={plain}")
    for form in SIGNED:
        plain = secret.replace("+", "-").replace("/", "-")
        yield f"signed {form[8:24]}", plain, URL, [], _body(user=f"Look at {form.format(plain)} please")
    plain = secret.replace("+", "-").replace("/", "-")
    yield "user of a URL", plain, URL.replace("//", f"//user:{plain}@"), [], _body()
    yield "user of a link", plain, URL, [], _body(user=f"postgres://user:{plain}@db.internal:5432/x")
    token = f"{number:03}a0b1c2d3e4f5g6h7"
    yield "path", token, URL.replace("/chat", f"/{token}/chat"), [], _body()
    for host, shape in SHAPES.items():
        key = shape.removeprefix("Bearer ")
        if host == "a header":
            continue
        yield f"model, {host}", key, URL, [], {**_body(), "model": key}
        yield f"id, {host}", key, URL, [], _body(messages=[{"role": "tool", "tool_call_id": key, "content": "x"}])
        yield f"name, {host}", key, URL, [], _body(metadata={key: "x"})
        yield f"text, {host}", key, URL, [], _body(messages=[{"role": "user", "content": f"Use {key}."}])


def _plain(secret: str, encode: Callable[[str], str]) -> tuple[str, bytes]:
    message = {"role": "assistant", "content": f"It is {encode(secret)}.", "reasoning_content": f"({encode(secret)})"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "note": 7}
    return "application/json", json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()


def _refused(secret: str, encode: Callable[[str], str]) -> tuple[str, bytes]:
    error = {"message": f"Incorrect key provided: {encode(secret)}", "type": "invalid_request_error"}
    return "application/json", json.dumps({"error": error}).encode()


def _streamed(secret: str, encode: Callable[[str], str]) -> tuple[str, bytes]:
    text = f"It is {encode(secret)}."
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    deltas = [each for piece in pieces for each in (chunk(content(piece)), chunk(reasoning("…")))]
    return "text/event-stream", "".join([*map(event, deltas), event(chunk({}, "stop")), "data: [DONE]\n\n"]).encode()


REPLIES: Final[Mapping[str, Callable[[str, Callable[[str], str]], tuple[str, bytes]]]] = {
    "plain": _plain,
    "refused": _refused,
    "streamed": _streamed,
}


def matrix() -> Iterator[Planted]:
    """Yield every secret at every place, sent back in one encoding after the other, in each kind of reply."""
    forms = [(encoding, reply) for encoding in ENCODINGS for reply in REPLIES]
    for number in range(len(list(_requests(0)))):
        # Each place has a secret of its own, so that it is not known from another one.
        place, secret, url, headers, body = next(islice(_requests(number), number, None))
        for encoding, reply in forms[number % 3 :: 3]:
            kind, data = REPLIES[reply](secret, ENCODINGS[encoding])
            status = 401 if reply == "refused" else 200
            sent = {**body, "stream": True} if reply == "streamed" else body
            sent_headers = [("Content-Type", "application/json"), *headers]
            copy = Copy(
                0, "POST", url, sent_headers, json.dumps(sent).encode(), status, "OK", [("Content-Type", kind)], data
            )
            yield Planted(f"{place}, {encoding}, {reply}", secret, copy)
