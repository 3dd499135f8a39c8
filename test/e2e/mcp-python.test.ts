// @module-tag needs/python-clients
/** Python's MCP client, as published on PyPI, with both handshakes, and a real device behind the gateway. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PYTHON_CLIENTS } from "../needs.ts";
import { TOKENS } from "../tokens.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);
const ACTIONS = ["slow", "temperature"];

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env, top: { tools: { enabled: ACTIONS } } });
  await stack.gateway.online("pi");
});

test.each(["auto", "legacy"])("mcp from PyPI works unmodified (mode %s)", async (mode) => {
  const program = join(ROOT, "test/clients/mcp_client.py");
  const args = [program, `${stack.gateway.url}/mcp`, TOKENS.owner, mode];
  const { stdout } = await run(PYTHON_CLIENTS, args, { timeout: 50_000 });
  expect(JSON.parse(stdout)).toEqual({
    tools: ["edge_list", "edge_call", "edge_result", ...ACTIONS.map((action) => `pi__${action}`)],
    temperature: expect.stringContaining("°C"),
    slow: false,
    notes: expect.stringContaining("chunk 1"),
    wrong: true,
  });
});
