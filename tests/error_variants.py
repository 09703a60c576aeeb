"""Error texts as people meet them: cut, wrapped, with other ids, numbers and models; and texts that only look alike."""

from typing import Final

VARIANTS: Final = (
    # Other ids, numbers and models.
    ("reasoning.omitted", "messages.17.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."),
    ("ids.duplicate", "Duplicate value for 'tool_call_id' of toolu_vrtx_01AbCdEf in message[41]"),
    ("ids.too-long", "Invalid 'messages[12].tool_calls[3].id': string too long. Expected a string with maximum length 40, but got a string with length 87 instead."),
    ("reasoning.item-without-follower", "Item 'rs_68af0c2b9d' of type 'reasoning' was provided without its required following item."),
    ("results.missing", "No tool output found for function call call_9ZyXwVuT."),
    ("roles.last-assistant", "The last message of deepseek-v4-pro must be a user message, or an assistant message with prefix mode on (refer to https://api-docs.deepseek.com/guides/chat_prefix_completion)."),
    ("tools.unsupported", '{"error":{"message":"registry.ollama.ai/library/gemma3:27b does not support tools","type":"api_error"}}'),
    ("model.unknown", "The model `gpt-7-turbo` does not exist or you do not have access to it."),
    ("reasoning.signature-missing", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:read_file` , position 2."),
    ("params.temperature-thinking", "invalid temperature: only 1 is allowed for this model"),
    # Truncated.
    ("reasoning.omitted", "The `reasoning_content` in the thinking mode must be pa"),
    ("results.missing", "An assistant message with 'tool_calls' must be followed by tool mes…"),
    ("reasoning.altered", "…blocks in the latest assistant message cannot be modified. These blocks must remain as they were…"),
    ("roles.last-assistant", "This model does not support assistant message prefill. The conv..."),
    ("turns.response-order", "400 Please ensure that function response turn comes immediately af"),
    ("results.orphaned", "… must be a response to a preceeding message with 'tool_calls'"),
    ("state.item-not-found", "Item with id 'rs_0f' not found. Items are not persisted when `store` is set to fal"),
    # Wrapped.
    ("reasoning.omitted", 'litellm.BadRequestError: DeepseekException - {"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}. Received Model Group=ds\nAvailable Model Group Fallbacks=None'),
    ("results.unknown-id", 'AI_APICallError: messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01X. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.\n    at fetch (file:///app/node_modules/@ai-sdk/provider-utils/dist/index.mjs:12:3)\n  statusCode: 400'),
    ("reasoning.signature", "Error code: 400 - {'error': {'message': 'Provider returned error', 'code': 400, 'metadata': {'raw': '{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.5.content.2: Invalid `signature` in `thinking` block\"}}', 'provider_name': 'Anthropic'}}}"),
    ("tools.missing", "botocore.errorfactory.ValidationException: An error occurred (ValidationException) when calling the Converse operation: The toolConfig field must be defined when using toolUse and toolResult content blocks."),
    ("ids.pattern", '2026-03-01 12:00:01 ERROR openai: Error code: 400 - {"object":"error","message":"Tool call id was chatcmpl-tool-77 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":"3280"}'),
    ("results.missing", 'openai.BadRequestError: Error code: 400 - {\'error\': {\'message\': "An assistant message with \'tool_calls\' must be followed by tool messages responding to each \'tool_call_id\'. The following tool_call_ids did not have response messages: call_a, call_b", \'type\': \'invalid_request_error\', \'param\': \'messages.[3].role\', \'code\': None}}'),
    ("roles.consecutive", 'HTTP 500: {"error":{"code":500,"message":"Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}'),
    ("tools.malformed-output", 'event: error\ndata: {"error":{"message":"Failed to call a function. Please adjust your prompt. See \'failed_generation\' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=x>"}}\n\n'),
    ("reasoning.omitted", "Traceback (most recent call last):\n  File \"agent.py\", line 3, in <module>\nlangchain_core.exceptions.X: Error code: 400 - {'error': {'message': 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 6', 'type': 'invalid_request_error'}}"),
    ("tool-choice.thinking", '{"error":{"type":"upstream_error","message":"{\\"message\\":\\"The model returned the following errors: Thinking may not be enabled when tool_choice forces tool use.\\"}"}}'),
    # Case and white space.
    ("messages.missing", "  MESSAGES   must contain at least\none message "),
    ("tools.parser-missing", "\\\"AUTO\\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
    ("account.out-of-credit", '{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}'),
)  # fmt: skip
"""Each with the cause that it has."""

LOOK_ALIKES: Final = (
    "Internal Server Error",
    "<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center><hr>nginx</body></html>",
    "The `reasoning_content` in the thinking mode must not be passed back to the API.",
    "The reasoning text in the summary mode must be passed on to the archive.",
    "An assistant must be followed by tools",
    "Unexpected token 'i', \"internal s\"... is not valid JSON",
    "messages",
    "the field is required",
    "Tool results were found and all calls have a response.",
    "KeyError: 'tool_calls'",
    "Connection reset by peer",
    "expected value at line 1 column 1",
    "Each message in the queue must be followed by an acknowledgement from the worker.",
    "TypeError: Cannot read properties of undefined (reading 'map')",
    '{"error":{"message":"Provider returned error","code":400}}',
    "The last message of the thread must be deleted by a user.",
    "This model does not support the language of your prompt.",
)
"""Each of them has no known cause."""
