/**
 * The loop of the AI SDK, as its documentation shows it: one call of generateText or streamText for each prompt, whose
 * response messages are kept. The drivers that use it differ only in the provider's package. Supports `ai` 5 to 7.
 */

import * as ai from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

/** Yield the final text of an AI SDK model for each prompt of the job; `providerOptions` are those of the SDK. */
export async function* converse(job, model, providerOptions = {}) {
  const settings = {
    model,
    providerOptions,
    tools: Object.fromEntries(job.tools.map((tool) => [tool.name, toolOf(tool)])),
    stopWhen: ai.stepCountIs(job.max_turns),
    ...systemPrompt(job.system),
    ...approval(job),
  };
  const ask = job.stream ? streamed : plain;
  let messages = [];
  for (const prompt of job.prompts) {
    messages = [...messages, { role: "user", content: prompt }];
    const { text, added, finish } = await ask({ ...settings, messages });
    messages = [...messages, ...added];
    job.ended(finish);
    yield text;
  }
}

async function plain(settings) {
  const result = await ai.generateText(settings);
  const added = result.responseMessages ?? result.response.messages;
  return { text: result.text, added, finish: result.finishReason };
}

async function streamed(settings) {
  const errors = [];
  const result = ai.streamText({ ...settings, onError: ({ error }) => errors.push(error) });
  await result.consumeStream();
  if (errors.length) throw errors[0];
  const added = (await result.responseMessages) ?? (await result.response).messages;
  return { text: await result.text, added, finish: await result.finishReason };
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
  // Renamed in ai 7.
  return ai.isStepCount ? { instructions: text } : { system: text };
}

/** Deny calls with the hook of ai 7; with older versions, denied functions run. */
function approval(job) {
  if (!job.tools.some((tool) => tool.isGated)) return {};
  const decide = (tool) => async (input) => {
    const reason = tool.denial(input);
    return reason === undefined ? "approved" : { type: "denied", reason };
  };
  return { toolApproval: Object.fromEntries(job.tools.map((tool) => [tool.name, decide(tool)])) };
}
