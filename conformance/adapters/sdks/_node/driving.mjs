/**
 * What the drivers of Node adapters share: reading the job, playing its tools, printing the answer.
 *
 * It needs only Node, since every driver runs in its adapter's own environment. A driver is an asynchronous
 * generator that yields the final text of each prompt:
 *
 *     async function* talk(job) {
 *       for (const prompt of job.prompts) yield await askTheAdapter(prompt);
 *     }
 *     await drive(talk, "name-of-the-adapter's-package");
 *
 * Node looks for packages from a file's own folder upwards. So this folder and the driver's are copied side by side into
 * the environment folder that has node_modules, as drivers/<digest>. A driver runs in an empty folder of its own.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Read the job from standard input, hold its conversation, print the answer, and end the process.
 *
 * The answer reports the versions of `packages`. What the adapter raises is part of the answer, even if it raises it
 * outside of the conversation.
 */
export async function drive(talk, ...packages) {
  const texts = [];
  const ends = [];
  const events = [];
  const job = prepareJob(JSON.parse(readFileSync(0, "utf8")), events);
  let answered = false;
  const answer = (error) => {
    // Later errors in the background mostly have the same cause.
    if (answered) return;
    answered = true;
    finish({ texts, finish: ends, ...errorOf(error), version: versions(packages), events });
  };
  process.on("uncaughtException", answer);
  console.log = console.info = console.debug = console.error;
  try {
    for await (const text of talk(job)) {
      texts.push(text ?? null);
      ends.push(job.takeFinish());
    }
    answer();
  } catch (error) {
    answer(error);
  }
}

/** Return a call's arguments as JSON values; anything absent, unparsable or not an object is an empty object. */
function parseArguments(args) {
  try {
    const value = JSON.parse(typeof args === "string" ? args : JSON.stringify(args));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

function prepareJob(job, events) {
  const record = (event, details) => events.push({ event, ...details, at_ms: Math.round(performance.now()) });
  const tools = job.tools.map((tool) => prepareTool(tool, record));
  let said = null;
  return {
    ...job,
    tools,
    /** Note what the adapter itself says of the end of the prompt whose text is yielded next. */
    ended: (finish) => (said = finish === undefined || finish === null ? null : String(finish)),
    takeFinish: () => {
      const taken = said;
      said = null;
      return taken;
    },
    tool: (name) => tools.find((tool) => tool.name === name),
    /** Record that these calls ([{name, arguments}]) were submitted for approval, all at once. */
    gate: (calls) =>
      record("gate", { calls: calls.map((call) => ({ ...call, arguments: parseArguments(call.arguments) })) }),
    /** Run calls ([{name, arguments}]) in parallel; return the text of each result and whether the call failed. */
    runCalls: (calls) => Promise.all(calls.map((call) => runCall(tools, call))),
  };
}

async function runCall(tools, { name, arguments: args }) {
  const tool = tools.find((each) => each.name === name);
  try {
    return { text: tool ? await tool.call(args) : `there is no tool '${name}'`, failed: false };
  } catch (error) {
    return { text: error.message, failed: true };
  }
}

function prepareTool(tool, record) {
  const otherwise = { text: tool.otherwise, delay_ms: 0, fails: false, denied: false };
  const result = (args) =>
    tool.results.find((entry) => isDeepStrictEqual(entry.arguments, parseArguments(args))) ?? otherwise;
  return {
    ...tool,
    /** Whether some call of the tool is denied, so that each call needs approval. */
    isGated: tool.results.some((entry) => entry.denied),
    /** Return the user's reason for denying a call, undefined if the call is allowed. */
    denial: (args) => (result(args).denied ? result(args).text : undefined),
    /** Return the text of the result after its delay, or throw it if the call fails. */
    async call(args) {
      const { text, delay_ms, fails } = result(args);
      const call = { name: tool.name, arguments: parseArguments(args) };
      record("start", { call });
      await sleep(delay_ms);
      record("end", { call });
      if (fails) throw new Error(text);
      return text;
    },
  };
}

function errorOf(error) {
  if (error === undefined) return {};
  // Many error classes have a name that bundlers preserve; the others are called Error.
  const type = [error?.name, error?.constructor?.name].find((name) => name && name !== "Error") ?? "Error";
  return { error: { type, message: String(error?.message ?? JSON.stringify(error)).slice(0, 2000) } };
}

/** Return the path of a file in a package of the environment; many packages do not export all of their files. */
export function fileOf(name, file) {
  return fileURLToPath(new URL(`../../../node_modules/${name}/${file}`, import.meta.url));
}

function versions(packages) {
  const manifest = (name) => JSON.parse(readFileSync(fileOf(name, "package.json"), "utf8"));
  return Object.fromEntries(packages.map((name) => [name, manifest(name).version]));
}

function finish(answer) {
  // Anything that the adapter leaves running is not waited for.
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
}
