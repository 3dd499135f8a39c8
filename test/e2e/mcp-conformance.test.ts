// @module-tag needs/mcp-peers
/** MCP's own conformance tests, with a real device behind the gateway. What is not served is listed with its reason. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDoor } from "../clients/conformance-door.ts";
import { MCP_PEERS } from "../needs.ts";
import { TOKENS } from "../tokens.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);
const PROGRAM = join(MCP_PEERS, "@modelcontextprotocol/conformance/dist/index.js");

const stack = useStack({ vars: { MCP_TRUSTED_TOKENS: "anna" } }, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  const enabled = ["picture", "read", "slow", "temperature"];
  await stack.startAgent({ id: "eye", env, top: { tools: { enabled } } });
  await stack.gateway.online("eye");
});

const STANDS = {
  test_simple_text: { tool: "eye__temperature", arguments: {} },
  test_image_content: { tool: "eye__picture", arguments: { bytes: 2_000 } },
  test_error_handling: { tool: "eye__read", arguments: { path: "missing.txt" } },
  // An agent gathers its output, so three pieces take seconds.
  test_tool_with_progress: { tool: "eye__slow", arguments: { ms: 4_500, chunks: 9 } },
};

/** Checks that fail, as `scenario/check`, with the reason. Each pattern must be needed. */
const NOT_SERVED: ReadonlyArray<[reason: string, checks: RegExp]> = [
  ["resources that only a test's server has, and subscriptions to them", /^resources-|-resources-/],
  ["prompts: the list is empty", /^prompts-|-prompts-|non-tool-request/],
  ["completion: it is for the arguments of prompts and resources", /^completion-/],
  ["audio and embedded files: a result links to them", /^tools-call-(audio|embedded-resource|mixed-content)/],
  ["requests for the client's model: a gateway has its own", /sampling|list-roots/],
  ["forms for the client's person: only the gateway's own page takes an approval", /elicitation|multi/],
  ["states of calls that ask by a form", /^input-required-result-(re|ta|ca)/],
  ["tasks: `edge_result` looks at a call that takes longer", /^tasks-/],
  ["subscriptions: lists of tools are read again", /subscription/],
  [
    "tools that only a test's server has",
    /^json-schema|custom-header|missing-capability|undeclared-capability/,
  ],
  ["streams and logs of such tools", /independent-requests-on-stream|no-log-without-loglevel/],
];
/** Of the `initialize` era alone. */
const NOT_SERVED_2025: typeof NOT_SERVED = [["logs: an agent's log stays at home", /logging/]];

/** Scenarios without a failure. */
const SERVED = {
  "2025-11-25": [
    "dns-rebinding-protection",
    "ping",
    "prompts-list",
    "resources-list",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-error",
    "tools-call-image",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
  ],
  "2026-07-28": [
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-ignore-extra-params",
    "input-required-result-missing-input-response",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "tasks-status-notifications",
    "tools-call-error",
    "tools-call-image",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
  ],
};

const folder = mkdtempSync(join(tmpdir(), "edgecall-conformance-"));
let door: Awaited<ReturnType<typeof openDoor>>;
beforeAll(async () => {
  door = await openDoor({ gateway: stack.gateway.url, token: TOKENS.owner, stands: STANDS });
});
afterAll(() => {
  door.close();
  rmSync(folder, { recursive: true, force: true });
});

type Check = { id: string; status: string; errorMessage?: string };

/** Runs the scenarios that a revision requires. @returns the checks of each scenario */
async function checksOf(revision: string): Promise<Array<{ scenario: string; checks: Check[] }>> {
  const out = join(folder, revision);
  const args = [PROGRAM, "server", "--url", door.url, "--requirements", revision, "-o", out];
  // It exits with 1 while any check fails.
  await run(process.execPath, args, { timeout: 90_000, maxBuffer: 2 ** 24 }).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 1) throw error;
  });
  return readdirSync(out).map((name) => ({
    scenario: name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
    checks: JSON.parse(readFileSync(join(out, name, "checks.json"), "utf8")) as Check[],
  }));
}

describe.each(["2025-11-25", "2026-07-28"] as const)("MCP's conformance tests of %s", (revision) => {
  let ran: Awaited<ReturnType<typeof checksOf>>;
  beforeAll(async () => {
    ran = await checksOf(revision);
  }, 100_000);

  test("what is served passes", () => {
    const whole = ran.filter(({ checks }) => checks.every(({ status }) => status !== "FAILURE"));
    expect(whole.map(({ scenario }) => scenario).sort()).toEqual(SERVED[revision]);
  });

  test("what fails is listed as not served", () => {
    const failures = ran.flatMap(({ scenario, checks }) =>
      checks.filter(({ status }) => status === "FAILURE").map(({ id }) => `${scenario}/${id}`),
    );
    const listed = revision === "2025-11-25" ? [...NOT_SERVED, ...NOT_SERVED_2025] : NOT_SERVED;
    expect(failures.filter((name) => !listed.some(([, checks]) => checks.test(name)))).toEqual([]);

    expect(failures.length).toBeGreaterThan(0);
  });
});
