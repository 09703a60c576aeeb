/**
 * What the drivers of Node adapters share: the job read, its tools played, the answer written.
 *
 * It needs nothing but Node, since every driver runs in its adapter's own environment. A driver is an asynchronous
 * generator that yields the final text of each prompt:
 *
 *     async function* talk(job) {
 *       for (const prompt of job.prompts) yield await askTheAdapter(prompt);
 *     }
 *     await drive(talk, "name-of-the-adapter's-package");
 *
 * Node looks for packages from a file's own folder upwards. So this folder and the driver's stand, as copies beside one
 * another, inside the environment folder that holds node_modules, and the driver runs in that folder.
 */

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Read the job from standard input, hold its conversation and print the answer; ends the process.
 *
 * `packages` are those whose versions the answer bears. What the adapter raises is part of the answer, also where it
 * raises it behind our back.
 */
export async function drive(talk, ...packages) {
  const texts = [];
  const events = [];
  const job = prepared(JSON.parse(readFileSync(0, "utf8")), events);
  let answered = false;
  const answer = (error) => {
    // What fails later in the background, mostly for the same reason, adds nothing.
    if (answered) return;
    answered = true;
    finish({ texts, ...raised(error), version: versions(packages), events });
  };
  process.on("uncaughtException", answer);
  console.log = console.info = console.debug = console.error;
  try {
    for await (const text of talk(job)) texts.push(text ?? null);
    answer();
  } catch (error) {
    answer(error);
  }
}

/** Return a call's arguments as JSON values; what is absent, cannot be parsed or is no object is an empty object. */
function parsed(given) {
  try {
    const value = JSON.parse(typeof given === "string" ? given : JSON.stringify(given));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

function prepared(job, events) {
  const note = (event, facts) => events.push({ event, ...facts, at_ms: Math.round(performance.now()) });
  const tools = job.tools.map((tool) => playable(tool, note));
  return {
    ...job,
    tools,
    tool: (name) => tools.find((tool) => tool.name === name),
    /** Note that these calls ([{name, arguments}]) were put before whoever approves them, all at once. */
    gate: (calls) => note("gate", { calls: calls.map((call) => ({ ...call, arguments: parsed(call.arguments) })) }),
  };
}

function playable(tool, note) {
  const otherwise = { text: tool.otherwise, delay_ms: 0, fails: false, denied: false };
  const result = (given) =>
    tool.results.find((entry) => isDeepStrictEqual(entry.arguments, parsed(given))) ?? otherwise;
  return {
    ...tool,
    /** Whether some call of it is to be denied, so that each needs approval. */
    isGated: tool.results.some((entry) => entry.denied),
    /** Return the text with which a user denies a call, undefined where it is allowed. */
    denial: (given) => (result(given).denied ? result(given).text : undefined),
    /** Return the result's text after its delay, or throw it where the job says so. */
    async call(given) {
      const { text, delay_ms, fails } = result(given);
      const call = { name: tool.name, arguments: parsed(given) };
      note("start", { call });
      await sleep(delay_ms);
      note("end", { call });
      if (fails) throw new Error(text);
      return text;
    },
  };
}

function raised(error) {
  if (error === undefined) return {};
  // Many classes bear a name that bundlers have not touched; the others are called Error.
  const type = [error?.name, error?.constructor?.name].find((name) => name && name !== "Error") ?? "Error";
  return { error: { type, message: String(error?.message ?? JSON.stringify(error)).slice(0, 2000) } };
}

function versions(packages) {
  const manifest = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return Object.fromEntries(packages.map((name) => [name, manifest(name).version]));
}

function finish(answer) {
  // Whatever the adapter leaves running is not waited for.
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
}
