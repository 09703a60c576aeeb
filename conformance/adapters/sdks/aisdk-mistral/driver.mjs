/** Drives the AI SDK with the provider package for Mistral. */

import { createMistral } from "@ai-sdk/mistral";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const talk = (job) => converse(job, createMistral({ baseURL: job.base_url, apiKey: job.api_key })(job.model));

await drive(talk, "@ai-sdk/mistral", "ai");
