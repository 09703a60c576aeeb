/**
 * Drives Codex: its app server, which editors use, with the job's tools as dynamic tools of the thread.
 *
 * `codex exec` is the same agent, but can be given tools by MCP servers only, under other names.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { drive, fileOf } from "../_node/driving.mjs";

const program = fileOf("@openai/codex", "bin/codex.js");

/** No tools but the job's, and no text about this machine. */
const settings = {
  model_provider: "simulated",
  web_search: "disabled",
  include_environment_context: false,
  include_permissions_instructions: false,
  "skills.bundled.enabled": false,
  "skills.include_instructions": false,
  "features.goals": false,
  "features.multi_agent": false,
  "features.shell_tool": false,
  "features.unified_exec": false,
};

async function* talk(job) {
  const home = mkdtempSync(join(tmpdir(), "codex-"));
  const server = startServer(job, home);
  try {
    yield* converse(job, server, home);
  } finally {
    server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function* converse(job, server, cwd) {
  const clientInfo = { name: "driver", title: null, version: "1" };
  await server.request("initialize", { clientInfo, capabilities: { experimentalApi: true, requestAttestation: false } });
  const { thread } = await server.request("thread/start", {
    model: job.model,
    cwd,
    environments: [],
    approvalPolicy: "never",
    dynamicTools: job.tools.map(({ name, description, parameters }) => ({
      type: "function",
      name,
      description,
      inputSchema: parameters,
    })),
    ...(job.system && { baseInstructions: job.system }),
  });
  for (const text of job.prompts) {
    const ended = server.nextTurn();
    await server.request("turn/start", { threadId: thread.id, input: [{ type: "text", text, text_elements: [] }] });
    yield await ended;
  }
}

/** Start the app server, which speaks JSON-RPC, one message a line. */
function startServer(job, home) {
  const provider = { name: "simulated", base_url: job.base_url, wire_api: "responses", env_key: "SIMULATED_KEY" };
  const named = Object.entries(provider).map(([key, value]) => [`model_providers.simulated.${key}`, value]);
  const flags = [...Object.entries(settings), ...named].flatMap(([key, value]) => ["-c", `${key}=${JSON.stringify(value)}`]);
  const child = spawn(process.execPath, [program, "app-server", ...flags], {
    env: { ...process.env, CODEX_HOME: home, SIMULATED_KEY: job.api_key },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const pending = new Map();
  let turn;
  let count = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  // What is settled already ignores a later error.
  const fail = (error) => [...pending.values(), turn].forEach((each) => each?.reject(error));
  child.on("error", fail);
  child.on("exit", (code) => fail(new Error(`codex app-server ended with exit code ${code}`)));

  const lines = createInterface({ input: child.stdout });
  lines.on("line", async (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === "item/tool/call") send({ id, result: await callTool(job, params) });
    else if (method && id !== undefined) send({ id, error: { code: -32601, message: `${method} is not supported` } });
    else if (method) turn?.take(method, params);
    else if (error) pending.get(id).reject(new Error(error.message));
    else pending.get(id).resolve(result);
  });
  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        pending.set(++count, { resolve, reject });
        send({ id: count, method, params });
      }),
    /** Return a promise of the last message of the next turn. */
    nextTurn: () => new Promise((resolve, reject) => (turn = turnOf(resolve, reject))),
    stop: () => child.kill(),
  };
}

function turnOf(resolve, reject) {
  let text;
  const take = (method, params) => {
    if (method === "item/completed" && params.item.type === "agentMessage") text = params.item.text;
    if (method !== "turn/completed") return;
    const { status, error } = params.turn;
    if (status === "completed") resolve(text);
    else reject(new Error(error?.message ?? status));
  };
  return { take, reject };
}

async function callTool(job, { tool, arguments: args }) {
  const [{ text, failed }] = await job.runCalls([{ name: tool, arguments: args }]);
  return { contentItems: [{ type: "inputText", text }], success: !failed };
}

await drive(talk, "@openai/codex");
