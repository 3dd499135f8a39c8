import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { BRIDGE_NODE_ENVIRONMENT, BRIDGE_NODE_FLAGS } from "./node-options.ts";

const VARIABLES = Object.entries(BRIDGE_NODE_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
const text = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("the command and the image that start a bridge have the flags and the variables", () => {
  const { scripts } = JSON.parse(text("package.json")) as { scripts: Record<string, string> };
  expect(scripts.bridge).toContain(`env ${[...VARIABLES, "node", ...BRIDGE_NODE_FLAGS].join(" ")} `);
  const image = text("bridge/Dockerfile");
  for (const variable of VARIABLES) expect(image).toMatch(new RegExp(`^ENV .*\\b${variable}\\b`, "m"));
  const flags = BRIDGE_NODE_FLAGS.map((flag) => `"${flag}", `).join("");
  expect(image).toContain(`ENTRYPOINT ["/usr/local/bin/node", ${flags}"`);
});
