/** The OpenAI Agents SDK, as its documentation shows it; the drivers that use it differ only in the model class. */

import { Agent, run, setTracingDisabled, tool } from "@openai/agents";

setTracingDisabled(true);

/** Yield the final text of each prompt of the job; `modelSettings` are those of the SDK. */
export async function* converse(job, model, modelSettings = {}) {
  const agent = new Agent({
    name: "agent",
    instructions: job.system,
    model,
    modelSettings,
    tools: job.tools.map(toolOf),
  });
  let history = [];
  let previous = {};
  for (const prompt of job.prompts) {
    let result = await runOnce(agent, [...history, { role: "user", content: prompt }], job, previous);
    while (result.interruptions?.length) result = await runOnce(agent, decide(result, job), job, previous);
    if (job.state === "response") previous = { previousResponseId: result.lastResponseId };
    else history = result.history;
    yield result.finalOutput;
  }
}

async function runOnce(agent, input, job, previous) {
  if (!job.stream) return run(agent, input, { maxTurns: job.max_turns, ...previous });
  const result = await run(agent, input, { maxTurns: job.max_turns, stream: true, ...previous });
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
    execute: (args) => call(args),
    ...(isGated && { needsApproval: async (context, args) => denial(args) !== undefined }),
  });
}

function decide({ state, interruptions }, job) {
  job.gate(interruptions.map(({ name, arguments: args }) => ({ name, arguments: args })));
  for (const pending of interruptions) {
    const message = job.tool(pending.name).denial(pending.arguments);
    if (message === undefined) state.approve(pending);
    else state.reject(pending, { message });
  }
  return state;
}
