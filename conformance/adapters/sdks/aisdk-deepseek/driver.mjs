/** Drives the AI SDK with the provider package for DeepSeek. */

import { createDeepSeek } from "@ai-sdk/deepseek";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const talk = (job) => converse(job, createDeepSeek({ baseURL: job.base_url, apiKey: job.api_key })(job.model));

await drive(talk, "@ai-sdk/deepseek", "ai");
