/** Drives the AI SDK with OpenRouter's own provider package. */

import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const talk = (job) => converse(job, createOpenRouter({ baseURL: job.base_url, apiKey: job.api_key }).chat(job.model));

await drive(talk, "@openrouter/ai-sdk-provider", "ai");
