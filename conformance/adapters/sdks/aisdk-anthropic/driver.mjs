/** Drives the AI SDK with the provider package of Anthropic. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const anthropic = { thinking: { type: "enabled", budgetTokens: 2048 } };

const talk = (job) => {
  const provider = createAnthropic({ baseURL: job.base_url, apiKey: job.api_key });
  return converse(job, provider(job.model), { anthropic });
};

await drive(talk, "@ai-sdk/anthropic", "ai");
