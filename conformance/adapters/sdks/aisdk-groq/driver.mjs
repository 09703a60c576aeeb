/** Drives the AI SDK with the provider package for Groq. */

import { createGroq } from "@ai-sdk/groq";
import { converse } from "../_node/ai-sdk.mjs";
import { drive } from "../_node/driving.mjs";

const talk = (job) => converse(job, createGroq({ baseURL: job.base_url, apiKey: job.api_key })(job.model));

await drive(talk, "@ai-sdk/groq", "ai");
