/** Drives a Mastra agent with Mastra's own model router and its message memory. */

import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Memory } from "@mastra/memory";
import { drive } from "../_node/driving.mjs";

async function* talk(job) {
  const mastra = new Mastra({ agents: { agent: agentOf(job) }, storage: new InMemoryStore(), logger: false });
  const agent = mastra.getAgent("agent");
  const settings = {
    maxSteps: job.max_turns,
    memory: { thread: "session", resource: "user" },
    ...(job.tools.some((tool) => tool.isGated) && {
      requireToolApproval: ({ toolName, args }) => job.tool(toolName).denial(args) !== undefined,
    }),
  };
  const ask = job.stream ? streamed : plain;
  for (const prompt of job.prompts) yield await ask(agent, prompt, settings, job);
}

function agentOf(job) {
  return new Agent({
    id: "agent",
    name: "agent",
    instructions: job.system,
    model: { providerId: job.provider, modelId: job.model, url: job.base_url, apiKey: job.api_key },
    tools: Object.fromEntries(job.tools.map((tool) => [tool.name, toolOf(tool)])),
    memory: new Memory({ options: { lastMessages: 100 } }),
  });
}

function toolOf({ name, description, parameters, call }) {
  return createTool({ id: name, description, inputSchema: parameters, execute: (args) => call(args) });
}

async function plain(agent, prompt, settings, job) {
  let result = await agent.generate(prompt, settings);
  while (result.finishReason === "suspended") {
    const decision = decide(result, result.suspendPayload, job);
    if (decision.reason === undefined) result = await agent.approveToolCallGenerate(decision);
    else result = await agent.declineToolCallGenerate(decision);
  }
  if (result.error) throw result.error;
  job.ended(result.finishReason);
  return result.text;
}

async function streamed(agent, prompt, settings, job) {
  let pending = [];
  let result = await agent.stream(prompt, settings);
  do {
    pending = [];
    for await (const chunk of result.fullStream) {
      if (chunk.type === "error") throw chunk.payload.error;
      if (chunk.type === "tool-call-approval") pending.push(chunk.payload);
    }
    for (const payload of pending) {
      const decision = decide(result, payload, job);
      if (decision.reason === undefined) result = await agent.approveToolCall(decision);
      else result = await agent.declineToolCall(decision);
    }
  } while (pending.length);
  job.ended(await result.finishReason);
  return result.text;
}

/** Return the job's decision; Mastra pauses at each gated call separately, and then asks about the next. */
function decide({ runId }, { toolCallId, toolName, args }, job) {
  job.gate([{ name: toolName, arguments: args }]);
  return { runId, toolCallId, reason: job.tool(toolName).denial(args) };
}

await drive(talk, "@mastra/core", "@mastra/memory");
