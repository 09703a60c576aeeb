/** Drives pi-ai with pi's own agent loop. */

import { drive } from "../_node/driving.mjs";
import { converse } from "../_node/pi-agent.mjs";

await drive(converse, "@earendil-works/pi-ai", "@earendil-works/pi-agent-core");
