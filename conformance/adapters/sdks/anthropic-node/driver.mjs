/** Drives the Anthropic SDK: a loop that appends the reply's content to the history, as its documentation does. */

import Anthropic from "@anthropic-ai/sdk";
import { drive } from "../_node/driving.mjs";

const thinking = { type: "enabled", budget_tokens: 2048 };

async function* talk(job) {
  const client = new Anthropic({ baseURL: job.base_url.replace(/\/v1$/, ""), apiKey: job.api_key, timeout: 20_000 });
  const tools = job.tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
  const fixed = {
    model: job.model,
    max_tokens: 4096,
    thinking,
    ...(tools.length && { tools }),
    ...(job.system && { system: job.system }),
  };
  const ask = job.stream
    ? (messages) => client.messages.stream({ ...fixed, messages }).finalMessage()
    : (messages) => client.messages.create({ ...fixed, messages });

  const messages = [];
  for (const prompt of job.prompts) {
    messages.push({ role: "user", content: prompt });
    let content;
    for (let turn = 0; turn < job.max_turns; turn++) {
      ({ content } = await ask(messages));
      messages.push({ role: "assistant", content });
      const calls = content.filter((block) => block.type === "tool_use");
      if (!calls.length) break;
      messages.push({ role: "user", content: await results(job, calls) });
    }
    yield content
      .filter((block) => block.type === "text")
      .map((block) => block.text)
      .join("");
  }
}

/** Return the result block of each call; the flag `is_error` marks those of calls that failed. */
async function results(job, calls) {
  const done = await job.runCalls(calls.map(({ name, input }) => ({ name, arguments: input })));
  return done.map(({ text, failed }, position) => ({
    type: "tool_result",
    tool_use_id: calls[position].id,
    content: text,
    ...(failed && { is_error: true }),
  }));
}

await drive(talk, "@anthropic-ai/sdk");
