/** Drives pi-ai's client of Anthropic with pi's own agent loop. */

import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/pi-agent.mjs";

const talk = (job) => converse({ ...job, base_url: job.base_url.replace(/\/v1$/, "") });

await drive(talk, "@earendil-works/pi-ai", "@earendil-works/pi-agent-core");
