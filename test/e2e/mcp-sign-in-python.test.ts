// @module-tag needs/python-clients
/** Python's MCP clients, as published on PyPI, sign in to a real gateway and call a device; nobody pastes a token. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { OauthGrantView } from "../../worker/kernel/api/answers.ts";
import { PYTHON_CLIENTS } from "../needs.ts";
import { TOKENS } from "../tokens.ts";
import { personBrowser } from "./person-browser.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi", top: { tools: { enabled: ["temperature"] } } });
  await stack.gateway.online("pi");
});

async function signIn(program: string, follows: boolean): Promise<unknown> {
  const env = await personBrowser(stack.gateway.url, TOKENS.owner, follows);
  const args = [join(ROOT, "test/clients", program), `${stack.gateway.url}/mcp`];
  const { stdout } = await run(PYTHON_CLIENTS, args, { timeout: 50_000, env });
  return JSON.parse(stdout);
}

const TOOLS = ["edge_list", "edge_call", "edge_result", "pi__temperature"];

test("mcp signs in, and calls a device", async () => {
  expect(await signIn("mcp_sign_in.py", false)).toEqual({
    tools: TOOLS,
    temperature: expect.stringContaining("°C"),
    scope: "ask command",
    signed_in: 1,
  });
});

test("fastmcp, which requests the address itself first, signs in and calls a device", async () => {
  expect(await signIn("fastmcp_sign_in.py", true)).toEqual({
    tools: TOOLS,
    temperature: expect.stringContaining("°C"),
  });
  const { grants } = (await (await stack.gateway.fetch("/v1/oauth/grants")).json()) as {
    grants: OauthGrantView[];
  };
  // Its own request of the address gave nothing.
  expect(grants.map(({ state }) => state)).toEqual(["connected", "connected"]);
});
