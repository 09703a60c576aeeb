"""What the drivers of Google's ADK share: the agent in one session in memory, which is the same for every model."""

from collections.abc import AsyncIterator
from typing import Any

from driving import Job, Tool, ToolFailed
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types


async def talk(job: Job, model: BaseLlm, settings: types.GenerateContentConfig | None = None) -> AsyncIterator[str]:
    """Hold the conversation."""
    tools: list[Any] = [JobTool(tool) for tool in job.tools]
    agent = Agent(name="driven", model=model, instruction=job.system, tools=tools, generate_content_config=settings)
    runner = InMemoryRunner(agent=agent, app_name="driven")
    session = await runner.session_service.create_session(app_name="driven", user_id="user")
    mode = StreamingMode.SSE if job.stream else StreamingMode.NONE
    config = RunConfig(streaming_mode=mode, max_llm_calls=job.max_turns)
    for prompt in job.prompts:
        message = types.Content(role="user", parts=[types.Part(text=prompt)])
        answer = ""
        async for event in runner.run_async(
            user_id="user", session_id=session.id, new_message=message, run_config=config
        ):
            if event.is_final_response() and event.content:
                answer = "".join(part.text or "" for part in event.content.parts if not part.thought)
        yield answer


class JobTool(BaseTool):
    """A tool of the job, defined by its schema."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self.tool = tool

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.tool.parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:  # noqa: ARG002 - ADK passes it by name
        """Return the result of a call; a failure is a result too, as ADK's documentation of tools advises."""
        try:
            return await self.tool.acall(args)
        except ToolFailed as failure:
            return {"status": "error", "error_message": str(failure)}
