/** Drives the AI SDK with the provider package for Moonshot AI. */

import { createMoonshotAI } from "@ai-sdk/moonshotai";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const talk = (job) => converse(job, createMoonshotAI({ baseURL: job.base_url, apiKey: job.api_key })(job.model));

await drive(talk, "@ai-sdk/moonshotai", "ai");
