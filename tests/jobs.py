"""A job for drivers: one tool with plain, incomplete, failing and denied calls."""

from typing import Any

from conformance.schemas import validator


def job(**changes: Any) -> dict[str, Any]:
    entries = [
        {"arguments": {"city": "Oslo"}, "text": "9", "delay_ms": 20, "fails": False, "denied": False},
        {"arguments": {}, "text": "which city?", "delay_ms": 0, "fails": False, "denied": False},
        {"arguments": {"city": "Nowhere"}, "text": "no such city", "delay_ms": 0, "fails": True, "denied": False},
        {"arguments": {"city": "Rome"}, "text": "not allowed", "delay_ms": 0, "fails": False, "denied": True},
    ]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = {"name": "weather", "description": "", "parameters": parameters, "results": entries, "otherwise": "unknown"}
    endpoint = {"contract": 1, "base_url": "http://127.0.0.1:9/v1", "api_key": "simulated", "provider": "deepseek"}
    rest = {"model": "m", "stream": False, "system": "", "prompts": ["Hello"], "tools": [tool], "max_turns": 4}
    value = {**endpoint, **rest, **changes}
    assert () == validator("files/adapter-job").errors(value)
    return value
