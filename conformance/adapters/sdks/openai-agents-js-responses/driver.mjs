/** Drives the OpenAI Agents SDK on Responses, stateless unless the job leaves its state to the server. */

import { OpenAIResponsesModel } from "@openai/agents";
import OpenAI from "openai";
import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/openai-agents.mjs";

const stateless = { store: false, providerData: { include: ["reasoning.encrypted_content"] } };

const talk = (job) => {
  const client = new OpenAI({ baseURL: job.base_url, apiKey: job.api_key, timeout: 20_000 });
  return converse(job, new OpenAIResponsesModel(client, job.model), job.state ? { store: true } : stateless);
};

await drive(talk, "@openai/agents", "openai");
