"""APIs that are none of the wires here, known by what their bodies have: for exchanges whose URL is not at hand.

Each sign holds for every body of its API and for none of a wire, nor for a broken one. What no sign fits is judged.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

Sign: TypeAlias = "Mapping[str, Sign] | tuple[Sign] | str | type"
"""What a value has to be: an object with such members, a list whose first value is such, a text, or of a type.

A text is a pattern; patterns are compiled when they are needed, because most files have no body of another API.
"""


class ForeignApi(NamedTuple):
    """An API: its name with what its host has instead, what its bodies have, and the heads of its streams."""

    name: str
    source: str
    replies: tuple[Sign, ...] = ()
    requests: tuple[Sign, ...] = ()
    stream: str = ""


_HEAD: Final = 2048


APIS: Final = (
    ForeignApi(
        "Ollama's own API; its chat completions are under /v1",
        "https://github.com/ollama/ollama/blob/main/docs/api.md",
        replies=({"model": str, "created_at": str, "done": bool},),
        stream=r'^(?:data: ?)?\{"model": ?"[^"]*", ?"(?:remote_\w+": ?"[^"]*", ?")*created_at": ?"',
    ),
    ForeignApi(
        "Cohere's own API; its chat completions are under /compatibility/v1",
        "https://docs.cohere.com/reference/chat",
        replies=(
            {"finish_reason": r"[A-Z_]+", "message": {"role": str}},
            {"generation_id": str, "text": str},
        ),
        requests=({"message": str, "chat_history": list}, {"message": str, "preamble": str}),
        stream=r'"type": ?"message-start"|"event_type": ?"stream-start"',
    ),
    ForeignApi(
        "Converse of Amazon Bedrock",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
        replies=({"output": {"message": {"role": str}}, "stopReason": str},),
        requests=(
            {"messages": list, "inferenceConfig": dict},
            {"messages": list, "modelId": str},
            {"messages": list, "toolConfig": dict},
        ),
        stream=r'"(?:contentBlockDelta|messageStart)": ?\{',
    ),
    ForeignApi(
        "InvokeModel of Amazon Bedrock with Titan",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html",
        replies=({"results": ({"outputText": str},)},),
        requests=({"inputText": str},),
    ),
    ForeignApi(
        "text completions",
        "https://platform.openai.com/docs/api-reference/completions/object",
        replies=({"object": "text_completion", "choices": ({"text": str},)},),
        stream=r'"object": ?"text_completion"',
    ),
    ForeignApi(
        "embeddings",
        "https://platform.openai.com/docs/api-reference/embeddings/object",
        replies=({"data": ({"object": "embedding"},)}, {"embeddings": list}),
    ),
    ForeignApi(
        "moderations",
        "https://platform.openai.com/docs/api-reference/moderations/object",
        replies=({"results": ({"flagged": bool},)},),
    ),
    ForeignApi(
        "Assistants",
        "https://platform.openai.com/docs/api-reference/assistants-streaming/events",
        replies=({"object": r"thread(?:\.\w+)*|assistant"},),
        stream=r"^event: ?thread\.",
    ),
    ForeignApi(
        "files, batches or fine-tuning",
        "https://platform.openai.com/docs/api-reference/batch/object",
        replies=({"object": r"file|batch|upload|fine_tuning\.job|vector_store(?:\.\w+)*"},),
    ),
    ForeignApi(
        "a list of models",
        "https://platform.openai.com/docs/api-reference/models/list",
        replies=({"data": ({"object": "model"},)}, {"models": ({"supportedGenerationMethods": list},)}),
    ),
    ForeignApi(
        "images",
        "https://platform.openai.com/docs/api-reference/images/object",
        replies=({"created": int, "data": ({"b64_json": str},)}, {"created": int, "data": ({"url": str},)}),
    ),
    ForeignApi(
        "counts of tokens",
        "https://ai.google.dev/api/tokens",
        replies=({"totalTokens": int}, {"input_tokens": int}),
    ),
    ForeignApi(
        "Interactions of Gemini",
        "https://ai.google.dev/gemini-api/docs/interactions",
        replies=({"object": "interaction"},),
        stream=r'"event_type": ?"interaction\.',
    ),
    ForeignApi(
        "Realtime",
        "https://platform.openai.com/docs/api-reference/realtime-server-events",
        replies=({"type": r"(?:session|input_audio_buffer|conversation\.item|response\.(?:audio|output_audio))\..*"},),
    ),
    ForeignApi(
        "Text Completions of Anthropic",
        "https://docs.anthropic.com/en/api/complete",
        replies=({"type": "completion", "completion": str},),
        requests=({"prompt": str, "max_tokens_to_sample": int},),
        stream=r"^event: ?completion$",
    ),
    ForeignApi(
        "Reka's own API",
        "https://docs.reka.ai/api-reference/chat/create",
        replies=({"responses": ({"message": {"role": str}},)},),
    ),
    ForeignApi(
        "MiniMax's first API",
        "https://platform.minimaxi.com/document/ChatCompletion",
        replies=({"choices": ({"messages": list},)},),
    ),
    ForeignApi(
        "Cortex Complete of Snowflake",
        "https://docs.snowflake.com/en/sql-reference/functions/complete-snowflake-cortex",
        replies=({"choices": ({"messages": str},)},),
    ),
    ForeignApi(
        "rerank",
        "https://docs.cohere.com/reference/rerank",
        replies=({"results": ({"relevance_score": float},)}, {"data": ({"relevance_score": float},)}),
    ),
    ForeignApi(
        "the own API of Text Generation Inference; its chat completions are under /v1",
        "https://huggingface.co/docs/text-generation-inference/basic_tutorials/consuming_tgi",
        replies=({"generated_text": str}, ({"generated_text": str},)),
        requests=({"inputs": str, "parameters": dict},),
        stream=r'"token": ?\{"id": ?\d+, ?"text"|^data: ?\{"generated_text": ?"',
    ),
    ForeignApi(
        "the own API of llama.cpp; its chat completions are under /v1",
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        replies=({"content": str, "generation_settings": dict},),
    ),
    ForeignApi(
        "DashScope's own API; its chat completions are under /compatible-mode/v1",
        "https://help.aliyun.com/zh/model-studio/use-qwen-by-calling-api",
        replies=({"output": {"choices": list}, "request_id": str}, {"output": {"text": str}, "request_id": str}),
        requests=({"model": str, "input": {"messages": list}}, {"model": str, "input": {"prompt": str}}),
        stream=r'^data: ?\{"output": ?\{"(?:choices|text|finish_reason)"',
    ),
    ForeignApi(
        "ERNIE's first API; Qianfan's chat completions are under /v2",
        "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/clntwmv7t",
        replies=({"result": str, "is_truncated": bool},),
        stream=r'^data: ?\{"id": ?"[^"]*", ?"object": ?"[^"]*", ?"created": ?\d+, ?"sentence_id"',
    ),
    ForeignApi(
        "Replicate's predictions",
        "https://replicate.com/docs/reference/http#predictions.get",
        replies=({"urls": {"get": str}, "version": str, "status": str},),
    ),
    ForeignApi(
        "Workers AI's own API; its chat completions are under /ai/v1",
        "https://developers.cloudflare.com/workers-ai/get-started/rest-api/",
        replies=({"result": {"response": str}, "success": bool},),
    ),
    ForeignApi(
        "text generation of watsonx.ai",
        "https://cloud.ibm.com/apidocs/watsonx-ai#text-generation",
        replies=({"results": ({"generated_text": str},)},),
        requests=({"model_id": str, "input": str},),
    ),
    ForeignApi(
        "predictions of Vertex AI",
        "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.endpoints/predict",
        replies=({"predictions": list},),
        requests=({"instances": list},),
    ),
    ForeignApi(
        "completions of AI21",
        "https://docs.ai21.com/reference/j2-complete-ref",
        replies=({"completions": ({"data": {"text": str}},)},),
    ),
    ForeignApi(
        "the Llama API of Meta; its chat completions are under /compat/v1",
        "https://llama.developer.meta.com/docs/api/chat",
        replies=({"completion_message": {"role": str}},),
    ),
    ForeignApi(
        "CLOVA Studio's own API; its chat completions are under /v1/openai",
        "https://api.ncloud-docs.com/docs/en/clovastudio-chatcompletionsv3",
        replies=({"status": {"code": str}, "result": {"message": {"role": str}}},),
    ),
    ForeignApi(
        "YandexGPT's own API; its chat completions are under /v1",
        "https://yandex.cloud/en/docs/foundation-models/text-generation/api-ref/TextGeneration/completion",
        replies=({"result": {"alternatives": list}},),
        requests=({"modelUri": str, "messages": list},),
    ),
    ForeignApi(
        "Spark's own API; its chat completions are under /v1",
        "https://www.xfyun.cn/doc/spark/Web.html",
        replies=({"header": {"code": int}, "payload": {"choices": dict}},),
        requests=({"header": dict, "payload": {"message": dict}},),
    ),
    ForeignApi(
        "Mistral's conversations",
        "https://docs.mistral.ai/api/#tag/beta.conversations",
        replies=({"object": r"conversation\.response"},),
        stream=r"^event: ?conversation\.response\.",
    ),
    ForeignApi(
        "Dify",
        "https://docs.dify.ai/api-reference/chat/send-chat-message",
        replies=({"message_id": str, "conversation_id": str, "answer": str},),
        requests=({"query": str, "inputs": dict, "response_mode": str},),
        stream=r'^data: ?\{"event": ?"(?:message|agent_message|agent_thought|workflow_started)"',
    ),
    ForeignApi(
        "Coze",
        "https://www.coze.com/docs/developer_guides/chat_v3",
        replies=({"data": {"bot_id": str, "conversation_id": str}},),
        requests=({"bot_id": str, "additional_messages": list}, {"bot_id": str, "user_id": str}),
        stream=r"^event: ?conversation\.(?:chat|message)\.",
    ),
    ForeignApi(
        "JSON-RPC, as of the Model Context Protocol",
        "https://modelcontextprotocol.io/specification/2025-06-18/basic",
        replies=({"jsonrpc": r"2\.0"},),
        requests=({"jsonrpc": r"2\.0"},),
        stream=r'"jsonrpc": ?"2\.0"',
    ),
)


def api_of(request: Any, response: Any) -> str:
    """Return the name of the API that a request or its reply is one of; empty if it is none of these."""
    return next((api.name for api in APIS if _is_of(api, request, response)), "")


def _is_of(api: ForeignApi, request: Any, response: Any) -> bool:
    if type(response) is str:
        return bool(api.stream) and re.search(api.stream, response[:_HEAD], re.MULTILINE) is not None
    if any([_fits(response, sign) for sign in api.replies]):
        return True
    return any([_fits(request, sign) for sign in api.requests])


def _fits(value: Any, sign: Sign) -> bool:
    """Return whether a value has a sign."""
    if type(sign) is dict:
        return type(value) is dict and all([key in value and _fits(value[key], each) for key, each in sign.items()])
    if type(sign) is tuple:
        return type(value) is list and bool(value) and _fits(value[0], sign[0])
    if type(sign) is str:
        return type(value) is str and re.fullmatch(sign, value) is not None
    return type(value) is sign
