/**
 * The loop of the AI SDK, as its documentation has it: one call of generateText or streamText a prompt, its response
 * messages kept. Only the provider's package differs between the drivers that use it. Speaks the majors 5 to 7 of `ai`.
 */

import * as ai from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

/** Yield the final text of each prompt of the job, asked of an AI SDK model. */
export async function* converse(job, model) {
  const settings = {
    model,
    tools: Object.fromEntries(job.tools.map((tool) => [tool.name, toolOf(tool)])),
    stopWhen: ai.stepCountIs(job.max_turns),
    ...systemPrompt(job.system),
    ...approval(job),
  };
  const ask = job.stream ? streamed : plain;
  let messages = [];
  for (const prompt of job.prompts) {
    messages = [...messages, { role: "user", content: prompt }];
    const { text, added } = await ask({ ...settings, messages });
    messages = [...messages, ...added];
    yield text;
  }
}

async function plain(settings) {
  const result = await ai.generateText(settings);
  return { text: result.text, added: result.responseMessages ?? result.response.messages };
}

async function streamed(settings) {
  const errors = [];
  const result = ai.streamText({ ...settings, onError: ({ error }) => errors.push(error) });
  await result.consumeStream();
  if (errors.length) throw errors[0];
  return { text: await result.text, added: (await result.responseMessages) ?? (await result.response).messages };
}

function toolOf(tool) {
  return ai.tool({
    description: tool.description,
    inputSchema: ai.jsonSchema(tool.parameters),
    execute: (input) => tool.call(input),
  });
}

function systemPrompt(text) {
  if (!text) return {};
  // The major 7 has renamed it.
  return ai.isStepCount ? { instructions: text } : { system: text };
}

/** Deny by the hook that the major 7 has for it; before, the functions of denied calls run. */
function approval(job) {
  if (!job.tools.some((tool) => tool.isGated)) return {};
  const judged = (tool) => async (input) => {
    const reason = tool.denial(input);
    return reason === undefined ? "approved" : { type: "denied", reason };
  };
  return { toolApproval: Object.fromEntries(job.tools.map((tool) => [tool.name, judged(tool)])) };
}
