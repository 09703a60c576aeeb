/** Drives LangChain's createAgent with ChatOpenAI on Responses, stateless unless the job says otherwise. */

import { ChatOpenAI } from "@langchain/openai";
import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/langchain-agent.mjs";

const stateless = { zdrEnabled: true, modelKwargs: { include: ["reasoning.encrypted_content"] } };

const talk = (job) => {
  const { model, api_key: apiKey, base_url: baseURL, stream: streaming } = job;
  const settings = { model, apiKey, streaming, configuration: { baseURL }, useResponsesApi: true };
  return converse(job, new ChatOpenAI({ ...settings, ...(!job.state && stateless) }));
};

await drive(talk, "@langchain/openai", "langchain", "@langchain/core", "@langchain/langgraph");
