/** Drives the AI SDK with the provider package of OpenAI, which speaks Responses; stateless unless the job says otherwise. */

import { createOpenAI } from "@ai-sdk/openai";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const stateless = { store: false, include: ["reasoning.encrypted_content"] };

const talk = (job) => {
  const provider = createOpenAI({ baseURL: job.base_url, apiKey: job.api_key });
  return converse(job, provider.responses(job.model), { openai: job.state ? { store: true } : stateless });
};

await drive(talk, "@ai-sdk/openai", "ai");
