/** Programs with missing or wrong settings: each names the setting and what would be right. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { GatewayClient } from "./gateway-client.ts";
import { plainEnvironment, ROOT } from "./program.ts";

const dir = mkdtempSync(join(tmpdir(), "edgecall-settings-"));
const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) if (child.exitCode === null) child.kill("SIGTERM");
  await until(() => started.every((child) => child.exitCode !== null || child.signalCode !== null));
  rmSync(dir, { recursive: true, force: true });
});

type Run = { err: () => string; code: Promise<number | null> };

/** Runs a program as a person does with `npm run worker`, `bridge` or `pi-agent`, but without npm. */
function run(script: string, args: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    env: { ...plainEnvironment(), EDGECALL_DIR: join(dir, "state"), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  started.push(child);
  let err = "";
  child.stderr.on("data", (chunk) => (err += chunk));
  return { err: () => err, code: new Promise((resolve) => child.once("close", resolve)) };
}

function configFile(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

describe.concurrent("a program ends with 2 and names what is missing or wrong:", () => {
  const cases: Array<[string, string, string[], Record<string, string>, RegExp[]]> = [
    [
      "the bridge without settings",
      "bridge/main.ts",
      [],
      {},
      [/GATEWAY_URL: missing/, /BRIDGE_TOKEN: missing/],
    ],
    [
      "the bridge with wrong ones",
      "bridge/main.ts",
      [],
      { GATEWAY_URL: "ftp://x", BRIDGE_TOKEN: "two words", MQTT_URL: "here", HEALTH_PORT: "99999" },
      [/GATEWAY_URL: /, /BRIDGE_TOKEN: holds a space/, /MQTT_URL: not an address/, /HEALTH_PORT: should be/],
    ],
    ["the agent without --config", "pi-agent/main.ts", [], {}, [/missing: --config FILE/]],
    [
      "the agent without its file",
      "pi-agent/main.ts",
      ["--config", join(dir, "none.toml")],
      {},
      [/none\.toml: there is no such file/],
    ],
    [
      "the agent with a file that is not TOML",
      "pi-agent/main.ts",
      ["--config", configFile("broken.toml", "agent_id = \n")],
      {},
      [/broken\.toml: not TOML/],
    ],
    [
      "the agent with wrong keys",
      "pi-agent/main.ts",
      [
        "--config",
        configFile("wrong.toml", 'agent_id = "a/b"\ncolour = 1\n[mqtt]\nport = 0\n[llm]\nmodel = "m"\n'),
      ],
      { MAX_TOKENS: "many" },
      [
        /agent_id: .*letters, digits/,
        /colour: unknown/,
        /mqtt\.port: /,
        /llm\.base_url: missing/,
        /MAX_TOKENS/,
      ],
    ],
    [
      "the agent with an engine that is not supported",
      "pi-agent/main.ts",
      ["--config", configFile("tools.toml", 'agent_id = "a"\n[tools]\nsandboxing = "chroot"\n')],
      {},
      [/tools\.sandboxing: .*"bubblewrap"/],
    ],
    ["the Worker with a wrong port", "local/worker.ts", [], { PORT: "-1" }, [/PORT: expected a number/]],
  ];
  test.for(cases)("%s", async ([, script, args, env, expected]) => {
    const { code, err } = run(script, args, env);
    expect(await code, err()).toBe(2);
    for (const words of expected) expect(err()).toMatch(words);
    // A person reads this, so there is no stack trace.
    expect(err()).not.toMatch(/\n\s+at .*:\d+:\d+/);
  });
});

describe.concurrent("the Worker runs, and reports what is missing:", () => {
  const worker = async (name: string, env: Record<string, string>) => {
    const port = await freePort();
    const worker = run("local/worker.ts", [], { PORT: String(port), EDGECALL_DIR: join(dir, name), ...env });
    await until(() => worker.err().includes("the Worker listens"), {
      // Three start at once, each with its own bundling.
      within: 50_000,
      what: "the Worker listens",
    });
    return { err: worker.err, gateway: new GatewayClient(`http://127.0.0.1:${port}`) };
  };

  test("without any setting: in its log, and to each client", async () => {
    const { err, gateway } = await worker("bare", {});
    for (const name of ["API_TOKENS", "BRIDGE_TOKENS", "LLM_BASE_URL", "LLM_MODEL"]) {
      expect(err()).toContain(`${name}: not set`);
    }
    expect((await gateway.fetch("/healthz")).status).toBe(200);
    expect(await (await gateway.fetch("/v1/agents")).json()).toMatchObject({
      error: { code: "not_configured", message: expect.stringContaining("API_TOKENS") },
    });
  });

  test("without a model, or with a wrong variable: in the answer to the person", async () => {
    const bare = await worker("no-model", { ...testVars, LLM_MODEL: "" });
    const turn = await bare.gateway.ask("hello");
    expect(turn).toMatchObject({ status: "failed", answer: expect.stringContaining("set LLM_BASE_URL") });

    const wrong = await worker("wrong", {
      ...testVars,
      LLM_BASE_URL: "http://127.0.0.1:1/v1",
      MAX_TOKENS: "many",
    });
    expect(await wrong.gateway.ask("hello")).toMatchObject({
      status: "failed",
      error: { code: "settings", message: expect.stringContaining("MAX_TOKENS: expected") },
    });
  });

  test("with tokens that are not JSON: an error that names the variable", async () => {
    const { gateway } = await worker("tokens", { ...testVars, API_TOKENS: "secret" });
    const response = await gateway.fetch("/v1/agents");
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      error: { code: "not_configured", message: expect.stringContaining("API_TOKENS") },
    });
  });
});
