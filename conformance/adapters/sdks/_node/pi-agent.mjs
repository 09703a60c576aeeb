/** pi's own agent loop, with the models of pi-ai's catalog. The drivers that use it differ only in the URL of the model. */

import { Agent } from "@earendil-works/pi-agent-core";
import { builtinModels } from "@earendil-works/pi-ai/providers/all";

/** pi's names of providers, as far as they differ from the profiles'. */
const PROVIDERS = { moonshot: "moonshotai" };

/** Yield the final text of pi's agent for each prompt of the job. */
export async function* converse(job) {
  const models = builtinModels();
  let turns = 0;
  const agent = new Agent({
    initialState: {
      model: modelOf(job, models),
      systemPrompt: job.system,
      thinkingLevel: "high",
      tools: job.tools.map(toolOf),
    },
    streamFn: (model, context, options) => models.streamSimple(model, context, { ...options, apiKey: job.api_key }),
    beforeToolCall: async ({ toolCall, args }) => {
      const reason = job.tool(toolCall.name).denial(args);
      return reason === undefined ? undefined : { block: true, reason };
    },
    finishTurn: async () => (++turns < job.max_turns ? undefined : { action: "end" }),
  });
  for (const prompt of job.prompts) {
    turns = 0;
    await agent.prompt(prompt);
    // The loop does not throw; its state has the error.
    if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
    job.ended(agent.state.messages.at(-1).stopReason);
    yield textOf(agent.state.messages.at(-1));
  }
}

function modelOf(job, models) {
  const provider = PROVIDERS[job.provider] ?? job.provider;
  const known = models.getModel(provider, job.model) ?? { ...models.getModels(provider)[0], id: job.model };
  return { ...known, baseUrl: job.base_url };
}

function toolOf({ name, description, parameters, call }) {
  const execute = async (id, args) => ({ content: [{ type: "text", text: await call(args) }], details: {} });
  return { name, label: name, description, parameters, execute };
}

const textOf = ({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
