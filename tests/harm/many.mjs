
// Appended to a copy of driving.mjs, whose own `drive` is renamed: answers job after job until the input ends.
import { createInterface } from "node:readline";

export async function drive(talk, ...packages) {
  let stop = () => {};
  process.on("uncaughtException", (error) => stop({ error, last: true }));
  console.log = console.info = console.debug = console.error;
  for await (const line of createInterface({ input: process.stdin })) {
    const texts = [];
    const events = [];
    const { seconds, ...document } = JSON.parse(line);
    const job = prepareJob(document, events);
    const talked = async () => {
      for await (const text of talk(job)) texts.push(text ?? null);
      return {};
    };
    const stopped = new Promise((resolve) => (stop = resolve));
    const late = sleep(seconds * 1000, { hang: true, last: true }, { ref: false });
    const ended = await Promise.race([talked().catch((error) => ({ error })), stopped, late]);
    const answer = ended.hang ? { hang: true } : { texts, ...errorOf(ended.error), version: versions(packages), events };
    await new Promise((resolve) => process.stdout.write(`${JSON.stringify(answer)}\n`, resolve));
    // What still runs after an error in the background could disturb the next job.
    if (ended.last) process.exit(0);
  }
}
