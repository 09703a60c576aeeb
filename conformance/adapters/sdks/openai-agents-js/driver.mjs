/** Drives the OpenAI Agents SDK with its chat completions model. */

import { OpenAIChatCompletionsModel } from "@openai/agents";
import OpenAI from "openai";
import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/openai-agents.mjs";

const talk = (job) => {
  const client = new OpenAI({ baseURL: job.base_url, apiKey: job.api_key });
  return converse(job, new OpenAIChatCompletionsModel(client, job.model));
};

await drive(talk, "@openai/agents", "openai");
