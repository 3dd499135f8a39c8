// @module-tag needs/mcp-programs
/**
 * Programs that people use sign in to a real gateway, and their models call a device: Claude Code, Codex, opencode and mcp-remote. Nobody
 * pastes a token.
 */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify as toToml } from "smol-toml";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OauthGrantView } from "../../worker/kernel/api/answers.ts";
import { MCP_PROGRAMS } from "../needs.ts";
import { type Step, script } from "../scripted-model.ts";
import { type ScriptedProgramModel, startScriptedProgramModel } from "../scripted-program-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { personBrowser } from "./person-browser.ts";
import { useStack } from "./stack.ts";

const run = promisify(execFile);
const WITHIN = { timeout: 50_000 };
/** Each test starts its program several times, which takes seconds each on a busy machine. */
const PATIENCE_MS = 180_000;

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi", top: { tools: { enabled: ["temperature"] } } });
  await stack.gateway.online("pi");
});

let model: ScriptedProgramModel;

beforeAll(async () => {
  model = await startScriptedProgramModel();
});
afterAll(() => model.close());

/** The program's own environment: the person's browser, no telemetry, and nothing from the network. */
async function environment(): Promise<Record<string, string>> {
  const env = await personBrowser(stack.gateway.url, TOKENS.owner);
  const home = env.HOME ?? "";
  for (const folder of [".config", ".codex"]) mkdirSync(join(home, folder));
  return {
    ...env,
    CODEX_HOME: join(home, ".codex"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    XDG_CONFIG_HOME: join(home, ".config"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    // opencode would install a package for its plugins.
    npm_config_offline: "true",
    DISPLAY: ":9",
    TERM: "xterm",
  };
}

/** The newest grant, once its program has come with its token. */
const connected = (client: RegExp) =>
  until(
    async () => {
      const answer = await stack.gateway.fetch("/v1/oauth/grants");
      const { grants } = (await answer.json()) as { grants: OauthGrantView[] };
      return grants.find((grant) => client.test(grant.client) && grant.state === "connected");
    },
    { within: 40_000, what: `${client} has made a request with its token` },
  );

/** Runs a program in a terminal of its own: without one some do not sign in. */
const inTerminal = (command: string, env: Record<string, string>) =>
  run("script", ["-qec", command, "/dev/null"], { ...WITHIN, env, cwd: env.HOME });

const calling = (name: string, args: unknown): Step => ({ calls: [{ name, arguments: args }] });
const reading = (tool: string): Step => calling(tool, { agent_id: "pi", action: "temperature", params: {} });
const ANSWER: Step = { text: "So: $results" };
/** Only the device knows it. */
const ANSWERED = /So: [\s\S]*cpu-thermal: \d+\.\d °C/;

/** Runs a program without a terminal, and asks it on its standard input. @returns what it prints */
async function asked(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  ...steps: Step[]
): Promise<string> {
  const running = run(program, args, { ...WITHIN, env, cwd: env.HOME });
  running.child.stdin?.end(script(...steps, ANSWER));
  return (await running).stdout;
}

test(
  "Claude Code",
  async () => {
    const env = await environment();
    const claude = MCP_PROGRAMS.claude;
    await run(claude, ["mcp", "add", "--transport", "http", "home", `${stack.gateway.url}/mcp`], {
      ...WITHIN,
      env,
      cwd: env.HOME,
    });
    await inTerminal(`'${claude}' mcp login home`, env);
    const { stdout } = await run(claude, ["mcp", "list"], { ...WITHIN, env, cwd: env.HOME });
    expect(stdout).toMatch(/home: .*Connected/);
    expect(await connected(/Claude Code/)).toMatchObject({ person: "anna", scopes: ["ask", "command"] });

    const ofModel = {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_MODEL: "scripted",
      // On a busy machine the model would be asked before the gateway's tools are there.
      MCP_CONNECTION_NONBLOCKING: "false",
    };
    const tool = "mcp__home__edge_call";
    // Its models are shown the names of MCP's tools, and fetch the schemas of those that they want.
    const found = calling("ToolSearch", { query: `select:${tool}`, max_results: 1 });
    const args = ["-p", "--allowedTools", tool];
    expect(await asked(claude, args, { ...env, ...ofModel }, found, reading(tool))).toMatch(ANSWERED);
  },
  PATIENCE_MS,
);

test(
  "Codex",
  async () => {
    const env = await environment();
    const { codex } = MCP_PROGRAMS;
    const settings = {
      model: "scripted",
      model_provider: "scripted",
      model_providers: {
        scripted: { name: "scripted", base_url: `${model.url}/v1`, wire_api: "responses" },
      },
      // Plugins come from GitHub.
      features: { plugins: false },
    };
    writeFileSync(join(env.CODEX_HOME ?? "", "config.toml"), toToml(settings));
    await run(codex, ["mcp", "add", "home", "--url", `${stack.gateway.url}/mcp`], { ...WITHIN, env });
    await inTerminal(`'${codex}' mcp login home`, env);
    const { stdout } = await run(codex, ["mcp", "list"], { ...WITHIN, env });
    expect(stdout).toMatch(/home .*OAuth/);

    // Without a terminal it asks nobody, and refuses what would need it.
    const allowed = 'mcp_servers.home.default_tools_approval_mode="approve"';
    const args = ["exec", "--skip-git-repo-check", "-c", allowed, "-"];
    expect(await asked(codex, args, env, reading("mcp__home__edge_call"))).toMatch(ANSWERED);
    expect(await connected(/codex/i)).toMatchObject({ person: "anna" });
  },
  PATIENCE_MS,
);

test(
  "opencode",
  async () => {
    const env = await environment();
    const { opencode } = MCP_PROGRAMS;
    const scripted = {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: stack.model.url, apiKey: "none" },
      models: { scripted: { tool_call: true } },
    };
    const settings = {
      mcp: { home: { type: "remote", url: `${stack.gateway.url}/mcp` } },
      provider: { scripted },
    };
    writeFileSync(join(env.HOME ?? "", "opencode.json"), JSON.stringify(settings));
    await inTerminal(`'${opencode}' mcp auth home`, env);
    expect(await connected(/opencode/i)).toMatchObject({ person: "anna" });

    // Without a title its model would be asked for one.
    const args = ["run", "--model", "scripted/scripted", "--title", "a test"];
    expect(await asked(opencode, args, env, reading("home_edge_call"))).toMatch(ANSWERED);
  },
  PATIENCE_MS,
);

test("mcp-remote, for programs that start MCP servers: it lists the tools", async () => {
  const env = await environment();
  const child = spawn(process.execPath, [MCP_PROGRAMS.remote, `${stack.gateway.url}/mcp`, "--allow-http"], {
    env,
    cwd: env.HOME,
    stdio: ["pipe", "pipe", "pipe"],
  });
  try {
    let out = "";
    child.stdout.on("data", (data: Buffer) => {
      out += String(data);
    });
    let said = "";
    child.stderr.on("data", (data: Buffer) => {
      said += String(data);
    });
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
    });
    // It prints the address as well, which people copy where no browser opens.
    const address = await until(() => /^(http\S+\/oauth\/authorize\S+)\s/m.exec(said)?.[1], {
      within: 30_000,
    });
    await run(env.BROWSER ?? "", [address], { ...WITHIN, env });
    await until(() => out.includes('"id":1'), { within: 40_000, what: "initialize is answered" });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "pi__temperature", arguments: {} } });
    await until(() => out.includes('"id":2'), { within: 20_000, what: "the call is answered" });
    expect(out).toContain("°C");
  } finally {
    child.kill();
  }
});
