"""Drives the Claude Agent SDK, whose loop is Claude Code: the job's tools are an MCP server in this process.

Claude Code would give the tools a prefix; a setting keeps the names that the model is scripted to call.
"""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    SdkMcpTool,
    create_sdk_mcp_server,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

from driving import Job, Tool, ToolFailed, drive

USER = "0" * 64
SETTINGS = {"CLAUDE_AGENT_SDK_MCP_NO_PREFIX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


async def talk(job: Job) -> AsyncIterator[str | None]:
    """Hold the conversation in one session; its files are in a folder that is removed."""
    with TemporaryDirectory() as home:
        Path(home, ".claude.json").write_text(json.dumps({"userID": USER}))
        async with ClaudeSDKClient(options_of(job, home)) as client:
            for prompt in job.prompts:
                await client.query(prompt)
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        yield text_of(message)


def text_of(message: ResultMessage) -> str | None:
    """Return the final text of a turn; raises RuntimeError if it ended with an error."""
    if message.is_error:
        raise RuntimeError(message.result or message.subtype)
    return message.result


def options_of(job: Job, home: str) -> ClaudeAgentOptions:
    """Return the options of the session: no tools but the job's, and no settings of this machine."""
    address = {"ANTHROPIC_BASE_URL": job.base_url.removesuffix("/v1"), "ANTHROPIC_API_KEY": job.api_key}

    async def may_run(name: str, arguments: dict[str, Any], _context: Any) -> Any:
        job.gate([(name, arguments)])
        reason = job.tool(name).denies(arguments)
        return PermissionResultAllow() if reason is None else PermissionResultDeny(message=reason)

    return ClaudeAgentOptions(
        model=job.model,
        system_prompt=job.system,
        tools=[],
        mcp_servers={"job": create_sdk_mcp_server("job", tools=[tool_of(tool) for tool in job.tools])},
        allowed_tools=[f"mcp__job__{tool.name}" for tool in job.tools if not tool.is_gated],
        can_use_tool=may_run if any(tool.is_gated for tool in job.tools) else None,
        max_turns=job.max_turns,
        setting_sources=[],
        extra_args={"bare": None},
        env={**SETTINGS, **address, "CLAUDE_CONFIG_DIR": home},
    )


def tool_of(tool: Tool) -> SdkMcpTool[Any]:
    """Return a tool of the job, defined by its schema."""

    async def call(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"content": [{"type": "text", "text": await tool.acall(arguments)}]}
        except ToolFailed as failure:
            return {"content": [{"type": "text", "text": str(failure)}], "is_error": True}

    return SdkMcpTool(tool.name, tool.description, tool.parameters, call)


drive(talk, "claude-agent-sdk")
