/** Drives the OpenAI Agents SDK with its model for chat completions. */

import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { drive } from "../_node/driving.mjs";

setTracingDisabled(true);

async function* talk(job) {
  const client = new OpenAI({ baseURL: job.base_url, apiKey: job.api_key });
  const agent = new Agent({
    name: "agent",
    instructions: job.system,
    model: new OpenAIChatCompletionsModel(client, job.model),
    tools: job.tools.map(toolOf),
  });
  let history = [];
  for (const prompt of job.prompts) {
    let result = await asked(agent, [...history, { role: "user", content: prompt }], job);
    while (result.interruptions?.length) result = await asked(agent, decided(result, job), job);
    history = result.history;
    yield result.finalOutput;
  }
}

async function asked(agent, input, job) {
  if (!job.stream) return run(agent, input, { maxTurns: job.max_turns });
  const result = await run(agent, input, { maxTurns: job.max_turns, stream: true });
  for await (const event of result) void event;
  await result.completed;
  return result;
}

function toolOf({ name, description, parameters, call, denial, isGated }) {
  return tool({
    name,
    description,
    parameters,
    strict: false,
    execute: (given) => call(given),
    ...(isGated && { needsApproval: async (context, given) => denial(given) !== undefined }),
  });
}

function decided({ state, interruptions }, job) {
  job.gate(interruptions.map(({ name, arguments: given }) => ({ name, arguments: given })));
  for (const asked of interruptions) {
    const message = job.tool(asked.name).denial(asked.arguments);
    if (message === undefined) state.approve(asked);
    else state.reject(asked, { message });
  }
  return state;
}

await drive(talk, "@openai/agents", "openai");
