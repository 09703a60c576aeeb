/** Drives the AI SDK with the provider package of Google. */

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const google = { thinkingConfig: { includeThoughts: true } };

const talk = (job) => {
  const provider = createGoogleGenerativeAI({ baseURL: job.base_url, apiKey: job.api_key });
  return converse(job, provider(job.model), { google });
};

await drive(talk, "@ai-sdk/google", "ai");
