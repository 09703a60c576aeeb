/** LangChain's createAgent, as its documentation shows it; the drivers that use it differ only in the chat class. */

import { Command, MemorySaver } from "@langchain/langgraph";
import * as langchain from "langchain";

const { createAgent, humanInTheLoopMiddleware, tool } = langchain;

/** Yield the final text of each prompt of the job. */
export async function* converse(job, model) {
  const agent = createAgent({
    model,
    tools: job.tools.map(({ name, description, parameters, call }) =>
      tool((args) => call(args), { name, description, schema: parameters }),
    ),
    middleware: [...failures(), ...approval(job)],
    // The thread keeps the history between prompts.
    checkpointer: new MemorySaver(),
    ...(job.system && { systemPrompt: job.system }),
  });
  // A turn takes several steps of the graph: the model, its tools, and the nodes in between.
  const config = { configurable: { thread_id: "session" }, recursionLimit: 5 * job.max_turns };
  const ask = job.stream ? streamed : (input) => agent.invoke(input, config);
  async function streamed(input) {
    let state;
    for await (const [mode, chunk] of await agent.stream(input, { ...config, streamMode: ["values", "messages"] }))
      if (mode === "values") state = chunk;
    return state;
  }

  for (const prompt of job.prompts) {
    let state = await ask({ messages: [{ role: "user", content: prompt }] });
    while (state.__interrupt__?.length) state = await ask(new Command({ resume: decide(job, state.__interrupt__) }));
    const { response_metadata: about } = state.messages.at(-1);
    job.ended(about?.finish_reason ?? about?.stop_reason ?? about?.status);
    yield state.messages.at(-1).text;
  }
}

/** Send what a tool raises to the model; before 1.5, the agent did so by itself. */
function failures() {
  const { toolErrorMiddleware } = langchain;
  return toolErrorMiddleware ? [toolErrorMiddleware({ onError: (error) => error.message })] : [];
}

function approval(job) {
  const gated = job.tools.filter((tool) => tool.isGated);
  if (!gated.length) return [];
  const decisions = { allowedDecisions: ["approve", "reject"] };
  return [humanInTheLoopMiddleware({ interruptOn: Object.fromEntries(gated.map(({ name }) => [name, decisions])) })];
}

function decide(job, interrupts) {
  const requests = interrupts.flatMap(({ value }) => value.actionRequests);
  job.gate(requests.map(({ name, args }) => ({ name, arguments: args })));
  const decisions = requests.map(({ name, args }) => {
    const message = job.tool(name).denial(args);
    return message === undefined ? { type: "approve" } : { type: "reject", message };
  });
  return { decisions };
}
