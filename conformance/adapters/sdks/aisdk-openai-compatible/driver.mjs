/** Drives the AI SDK with the provider package for any OpenAI-compatible server. */

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const talk = (job) => {
  const provider = createOpenAICompatible({ name: job.provider, baseURL: job.base_url, apiKey: job.api_key });
  return converse(job, provider(job.model));
};

await drive(talk, "@ai-sdk/openai-compatible", "ai");
