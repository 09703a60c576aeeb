/** Drives LangChain's createAgent with ChatOpenAI on Responses, stateless. */

import { ChatOpenAI } from "@langchain/openai";
import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/langchain-agent.mjs";

const stateless = { zdrEnabled: true, modelKwargs: { include: ["reasoning.encrypted_content"] } };

const talk = (job) => {
  const { model, api_key: apiKey, base_url: baseURL, stream: streaming } = job;
  const settings = { model, apiKey, streaming, configuration: { baseURL }, useResponsesApi: true, ...stateless };
  return converse(job, new ChatOpenAI(settings));
};

await drive(talk, "@langchain/openai", "langchain", "@langchain/core", "@langchain/langgraph");
