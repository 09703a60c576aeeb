/** The job's tools as a plugin of opencode: each call goes to the driver, which plays the tool. */

import { z } from "zod";

const { url, tools } = JSON.parse(process.env.DRIVEN_TOOLS);

export const DrivenTools = async () => ({
  tool: Object.fromEntries(tools.map((tool) => [tool.name, toolOf(tool)])),
});

function toolOf({ name, description, parameters }) {
  return {
    description,
    args: z.fromJSONSchema(parameters).shape,
    async execute(args) {
      const response = await fetch(url, { method: "POST", body: JSON.stringify({ name, arguments: args }) });
      const { text, failed } = await response.json();
      if (failed) throw new Error(text);
      return text;
    },
  };
}
