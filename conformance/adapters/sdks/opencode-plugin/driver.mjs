/** Drives opencode: its server, with the job's tools as those of a plugin, which calls them in this process. */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as textOf } from "node:stream/consumers";
import { drive, fileOf } from "../_node/driving.mjs";

/** The launcher of opencode-ai needs a script that runs at installation; the program itself does not. */
const program = fileOf(`opencode-${process.platform}-${process.arch}`, "bin/opencode");
const thinking = { type: "enabled", budgetTokens: 2048 };

/** Settings that keep opencode from the network: its catalogue of models, its updates, and packages for plugins. */
const offline = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  npm_config_fetch_retries: "0",
  npm_config_registry: "http://127.0.0.1:9",
};

async function* talk(job) {
  const home = mkdtempSync(join(tmpdir(), "opencode-"));
  const tools = await serveTools(job);
  const server = await startServer(job, home, tools.url);
  try {
    const { id } = await server.post("/session", { title: "driven" });
    for (const prompt of job.prompts) {
      const { info, parts } = await server.post(`/session/${id}/message`, { parts: [{ type: "text", text: prompt }] });
      if (info.error) throw new Error(info.error.data?.message ?? info.error.name);
      yield parts
        .filter((part) => part.type === "text")
        .map((part) => part.text)
        .join("");
    }
  } finally {
    server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Serve the job's tools to the plugin, which runs in opencode's process. */
function serveTools(job) {
  const server = createServer(async (request, response) => {
    const [done] = await job.runCalls([JSON.parse(await textOf(request))]);
    response.end(JSON.stringify(done));
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}` })),
  );
}

function configOf(job) {
  const options = { baseURL: job.base_url, apiKey: job.api_key };
  const ours = Object.fromEntries(job.tools.map(({ name }) => [name, true]));
  return {
    model: `anthropic/${job.model}`,
    provider: { anthropic: { options, models: { [job.model]: { options: { thinking } } } } },
    agent: {
      title: { disable: true },
      driven: { mode: "primary", tools: { "*": false, ...ours }, ...(job.system && { prompt: job.system }) },
    },
    default_agent: "driven",
    plugin: [new URL("plugin.mjs", import.meta.url).href],
    share: "disabled",
  };
}

async function startServer(job, home, toolsUrl) {
  const tools = job.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const child = spawn(program, ["serve", "--port", "0"], {
    env: {
      ...process.env,
      ...offline,
      HOME: home,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(job)),
      DRIVEN_TOOLS: JSON.stringify({ url: toolsUrl, tools }),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`opencode ended with exit code ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /listening on (http:\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  return {
    post: async (path, body) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`opencode answered ${response.status}: ${await response.text()}`);
      return response.json();
    },
    stop: () => child.kill(),
  };
}

await drive(talk, "opencode-ai");
