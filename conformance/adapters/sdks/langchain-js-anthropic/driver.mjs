/** Drives LangChain's createAgent with ChatAnthropic of @langchain/anthropic. */

import { ChatAnthropic } from "@langchain/anthropic";
import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/langchain-agent.mjs";

const thinking = { type: "enabled", budget_tokens: 2048 };

const talk = (job) => {
  const { model, api_key: apiKey, stream: streaming } = job;
  const anthropicApiUrl = job.base_url.replace(/\/v1$/, "");
  return converse(job, new ChatAnthropic({ model, apiKey, anthropicApiUrl, streaming, thinking, maxTokens: 4096 }));
};

await drive(talk, "@langchain/anthropic", "langchain", "@langchain/core", "@langchain/langgraph");
