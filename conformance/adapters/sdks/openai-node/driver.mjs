/** Drives the OpenAI SDK's own loop: runTools with chat completions. */

import OpenAI from "openai";
import { drive } from "../_node/driving.mjs";

async function* talk(job) {
  const client = new OpenAI({ baseURL: job.base_url, apiKey: job.api_key });
  const tools = job.tools.map(toolOf);
  let messages = job.system ? [{ role: "system", content: job.system }] : [];
  for (const prompt of job.prompts) {
    messages = [...messages, { role: "user", content: prompt }];
    const body = { model: job.model, messages, stream: job.stream, ...(tools.length && { tools }) };
    const runner = client.chat.completions.runTools(body, { maxChatCompletions: job.max_turns });
    const text = await runner.finalContent();
    // The runner's messages include its input, the replies and the results.
    messages = runner.messages;
    job.ended(runner.allChatCompletions().at(-1)?.choices[0].finish_reason);
    yield text;
  }
}

function toolOf({ name, description, parameters, call }) {
  // The runner has no way for a function to fail: an error ends the run.
  return { type: "function", function: { name, description, parameters, parse: JSON.parse, function: call } };
}

await drive(talk, "openai");
