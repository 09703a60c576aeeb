"""Drives smolagents: its tool-calling agent with the OpenAI model class; the memory is kept between runs."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import smolagents

sys.path.insert(0, str(Path(__file__).parents[1] / "_python"))

import driving
from driving import Job, drive


def talk(job: Job) -> Iterator[str]:
    """Hold the conversation; the agent answers with its own tool final_answer, or with plain text."""
    client = {"timeout": 20}
    model = smolagents.OpenAIModel(job.model, api_base=job.base_url, api_key=job.api_key, client_kwargs=client)
    agent = smolagents.ToolCallingAgent(
        tools=[JobTool(tool) for tool in job.tools],
        model=model,
        instructions=job.system,
        stream_outputs=job.stream,
        max_steps=job.max_turns,
    )
    for position, prompt in enumerate(job.prompts):
        yield str(agent.run(prompt, reset=position == 0))


class JobTool(smolagents.Tool):
    """A tool of the job, defined by its schema."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, tool: driving.Tool) -> None:
        self.name, self.description = tool.name, tool.description
        required = tool.parameters.get("required", [])
        self.inputs = {
            name: {"description": name, **schema, "nullable": name not in required}
            for name, schema in tool.parameters.get("properties", {}).items()
        }
        self.tool = tool
        super().__init__()

    def forward(self, **arguments: Any) -> str:
        """Return the result of a call."""
        return self.tool.call(arguments)


drive(talk, "smolagents", "openai")
