/** Drives LangChain's createAgent with LangChain's chat class for the provider. */

import { ChatDeepSeek } from "@langchain/deepseek";
import { ChatOpenAI } from "@langchain/openai";
import { ChatOpenRouter } from "@langchain/openrouter";
import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/langchain-agent.mjs";

const talk = (job) => converse(job, modelOf(job));

function modelOf(job) {
  const { model, api_key: apiKey, base_url: baseURL, stream: streaming } = job;
  if (job.provider === "deepseek") return new ChatDeepSeek({ model, apiKey, streaming, configuration: { baseURL } });
  if (job.provider === "openrouter") return new ChatOpenRouter({ model, apiKey, baseURL });
  return new ChatOpenAI({ model, apiKey, streaming, configuration: { baseURL }, useResponsesApi: false });
}

await drive(
  talk,
  "langchain",
  "@langchain/core",
  "@langchain/langgraph",
  "@langchain/deepseek",
  "@langchain/openai",
  "@langchain/openrouter",
);
