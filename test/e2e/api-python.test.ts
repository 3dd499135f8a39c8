// @module-tag needs/python-clients
/** A Python client that a generator from PyPI makes of the running gateway's openapi.json asks a question and approves one. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PYTHON_CLIENTS } from "../needs.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);
const WITHIN = { timeout: 100_000 };

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "careful", top: { policy: { device: "ask" } } });
  await stack.gateway.online("careful");
});

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-api-python-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("openapi-python-client makes a client of it without a warning, which asks and approves", async () => {
  const document = join(folder, "openapi.json");
  writeFileSync(document, await (await fetch(`${stack.gateway.url}/openapi.json`)).text());
  const programs = dirname(PYTHON_CLIENTS);
  const generate = [
    "-m",
    "openapi_python_client",
    "generate",
    "--path",
    document,
    "--output-path",
    join(folder, "edgecall_api"),
  ];
  const config = join(ROOT, "test/clients/openapi-python-client.yaml");
  await run(
    PYTHON_CLIENTS,
    [...generate, "--meta", "none", "--config", config, "--fail-on-warning"],
    // It formats what it has made with the ruff on the path, which finds syntax errors.
    { ...WITHIN, cwd: folder, env: { ...process.env, PATH: programs + delimiter + process.env.PATH } },
  );
  // Every module, also those that the program below does not use.
  await run(PYTHON_CLIENTS, ["-m", "compileall", "-q", join(folder, "edgecall_api")], WITHIN);

  const call = action("careful", "temperature", {});
  const program = join(ROOT, "test/clients/api_python.py");
  const args = [program, folder, stack.gateway.url, TOKENS.owner, script(call, RESULTS)];
  const { stdout } = await run(PYTHON_CLIENTS, args, WITHIN);
  expect(JSON.parse(stdout)).toEqual({
    agents: ["careful"],
    refused: "invalid_body",
    begun: [202, "running"],
    asked: { agent: "careful", tool: "temperature", parameters: {} },
    answered: "approve",
    status: "done",
    answer: expect.stringContaining("°C"),
    calls: [["careful", "temperature", "success"]],
  });
}, 240_000);
