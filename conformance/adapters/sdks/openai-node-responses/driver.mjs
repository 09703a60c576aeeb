/**
 * Drives the OpenAI SDK on Responses: a loop that appends the reply's output to the input, as its documentation does.
 *
 * Nothing is stored, so that reasoning comes encrypted and has to be sent back, unless the job leaves its state to the
 * server. The SDK's own helper assembles streams.
 */

import OpenAI from "openai";
import { drive } from "../_node/driving.mjs";

const stateless = { store: false, include: ["reasoning.encrypted_content"] };

async function* talk(job) {
  const client = new OpenAI({ baseURL: job.base_url, apiKey: job.api_key, timeout: 20_000 });
  const tools = job.tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    parameters,
    strict: false,
  }));
  const fixed = {
    model: job.model,
    ...(job.state ? { store: true } : stateless),
    ...(tools.length && { tools }),
    ...(job.system && { instructions: job.system }),
  };
  const ask = job.stream
    ? (input) => client.responses.stream({ ...fixed, ...previous, input }).finalResponse()
    : (input) => client.responses.create({ ...fixed, ...previous, input });

  let input = [];
  let previous = {};
  for (const prompt of job.prompts) {
    input.push({ role: "user", content: prompt });
    let reply;
    for (let turn = 0; turn < job.max_turns; turn++) {
      reply = await ask(input);
      if (job.state === "response") {
        input = [];
        previous = { previous_response_id: reply.id };
      } else input.push(...reply.output);
      const calls = reply.output.filter((item) => item.type === "function_call");
      if (!calls.length) break;
      const done = await job.runCalls(calls);
      done.forEach(({ text }, position) =>
        input.push({ type: "function_call_output", call_id: calls[position].call_id, output: text }),
      );
    }
    yield reply.output_text;
  }
}

await drive(talk, "openai");
