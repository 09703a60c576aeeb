/**
 * Drives the Google GenAI SDK: a loop that appends the reply's content to the history, as Google's documentation does.
 *
 * The SDK has no helper that assembles streams, so the parts of all chunks become one content.
 */

import { GoogleGenAI } from "@google/genai";
import { drive } from "../_node/driving.mjs";

async function* talk(job) {
  const httpOptions = { baseUrl: job.base_url.replace(/\/v1$/, ""), timeout: 20_000 };
  const { models } = new GoogleGenAI({ apiKey: job.api_key, httpOptions });
  const functionDeclarations = job.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  const config = {
    thinkingConfig: { includeThoughts: true },
    ...(job.system && { systemInstruction: job.system }),
    ...(job.tools.length && { tools: [{ functionDeclarations }] }),
  };
  const ask = job.stream ? streamed : plain;
  const contents = [];
  for (const prompt of job.prompts) {
    contents.push({ role: "user", parts: [{ text: prompt }] });
    let parts = [];
    for (let turn = 0; turn < job.max_turns; turn++) {
      const content = await ask(models, { model: job.model, contents, config });
      contents.push(content);
      parts = content.parts ?? [];
      const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
      if (!calls.length) break;
      contents.push({ role: "user", parts: await Promise.all(calls.map((call) => result(job, call))) });
    }
    yield parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
  }
}

async function plain(models, request) {
  const response = await models.generateContent(request);
  return response.candidates[0].content;
}

async function streamed(models, request) {
  const parts = [];
  for await (const chunk of await models.generateContentStream(request)) {
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
  }
  return { role: "model", parts };
}

/** Return the part with the result of a call; the key of a failure is `error`. */
async function result(job, { id, name, args }) {
  const response = await job
    .tool(name)
    .call(args)
    .then((output) => ({ output }))
    .catch((failure) => ({ error: failure.message }));
  return { functionResponse: { id, name, response } };
}

await drive(talk, "@google/genai");
