"""Questions in a reader's own words, as `explain` answers them."""

import pytest

from conformance.cli import _questions, _topics, main
from tests.loops import every
from tests.sampling import some

ASKED = {
    "my tool call gets lost when streaming with ollama": "stream/index-distinct (rule)",
    "why does deepsek want reasoning_contnt back": "deepseek: 400 The `reasoning_content` in the thinking mode",
    "two tool calls have same id": "ids.duplicate (cause of errors)",
    "can i send an image in a tool result to openai": "results.image-parts (claim)",
    "finish reason is stop but there are tool calls": "response/finish-reason-matches-tool-calls (rule)",
    "antropic max cache_control blocks": "anthropic: 400 A maximum of 4 blocks with cache_control",
    "what happens if i send a temperature to o3": "thinking.fixed-parameters (claim)",
    "stream ends without DONE": "stream.done (claim)",
    "claude says tool_use ids without tool_result": "results.missing: A tool call has no result",
    "gemini thought signature missing": "reasoning.signature-missing",
    "which field does qwen put its thinking in": "reasoning.response-field (claim)",
    "why does kimi forget my tool results": "results.missing (claim)",
    "can i send images in a tool message to mistral": "results.image-parts (claim)",
    "groq says reasoning_content not allowed": "reasoning.request-field (claim)",
    "developer role on groq": "request.developer-role (claim)",
    "warum kommt ein 400 nach dem Tool-Aufruf bei DeepSeek": "reasoning.omitted-on-tool-turn (claim)",
    "¿puedo enviar imágenes a deepseek?": "request.image-parts (claim)",
    "为什么 kimi 工具结果 缺少 报错": "results.missing",
    "почему groq не принимает reasoning_content": "groq: 400",
    "how do i turn thinking off on glm": "zai: ",
    "vllm wants user and assistant to take turns": "request.successive-same-role (claim)",
    "claude on bedrock: images in tool results?": "bedrock: ",
    "vllm stream: name missing in first chunk": "stream.continuation-name (claim)",
    "model calls a tool that isn't in my list": "tool-calls/name-declared (rule)",
    "grok keeps repeating the same function": "tool-calls/call-not-repeated (rule)",
    "deepseek v3 puts the call into the message text": "content.in-tool-reply (claim)",
    "kann ich bei anthropic thinking blöcke weglassen": "reasoning.omitted-on-tool-turn (claim)",
    "deepseekは推論内容を次のターンに返す必要がありますか": "deepseek: 400",
    "how do i turn off thinking for glm": "zai: ",
    "welche rollen erlaubt groq": "request.unknown-role (claim)",
    "does vertex keep the thought signatures across models": "signature.foreign-host (claim)",
    "minimax 的 思考 内容 在 哪个 字段": "reasoning.response-field (claim)",
}


@every("asked", some(ASKED, 5))
def test_a_question_is_answered_by_the_names_that_come_nearest(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["explain", asked])
    assert ASKED[asked] in " ".join(capsys.readouterr().out.split())


def test_what_topics_answer_with_can_be_explained() -> None:
    known = {each.name for each in _questions._answers()}
    assert [] == [name for topic in _topics.topics() for name in topic.answers if name not in known]


@every("name", ["zzz qqq xxx", "nonsense"])
def test_words_of_nothing_here_are_no_question(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["explain", name])
    assert "conformance" in capsys.readouterr().err


@every("name", ["Kimi K2 at groq", "claude sonnet 4.5", "Claude Opus"])
def test_a_model_is_still_a_model(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["explain", name])
    assert "(provider)" in capsys.readouterr().out
