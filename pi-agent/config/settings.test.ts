import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BRAVE_BASE_URL } from "@edgecall/core/web/brave.ts";
import { CONTEXT7_BASE_URL } from "@edgecall/core/web/context7.ts";
import { describe, expect, test } from "vitest";
import { PRESETS } from "./preset-names.ts";
import { AgentSettingsError, readSettings } from "./settings.ts";
import { SECTIONS } from "./settings-keys.ts";

const FILE = "/home/pi/agent.toml";

function problemsOf(source: string, env: Record<string, string> = {}): string[] {
  try {
    readSettings(source, { file: FILE, env });
  } catch (error) {
    if (error instanceof AgentSettingsError) return [...error.problems];
    throw error;
  }
  throw new Error("no problem was found");
}

describe("agent.toml", () => {
  test("an id is enough, the rest has defaults", () => {
    const { settings, notes } = readSettings('agent_id = "eye"', { file: FILE });
    expect(settings).toMatchObject({
      agentType: "monitor",
      capabilities: undefined,
      group: undefined,
      stateDir: "/home/pi/eye.state",
      root: "/",
      allowShutdown: false,
      mqtt: { url: "mqtt://127.0.0.1:1883", keepAliveSecs: 15, topicPrefix: "evoclaw" },
      llm: undefined,
      limits: { maxModelCalls: 10, maxFailedBatches: 3, maxParallel: 5 },
      maxPrompts: 4,
      metrics: { port: 0, host: "127.0.0.1" },
      policy: new Map(),
      approvalMs: 600_000,
      tools: { enabled: undefined, timeoutMs: undefined, workspace: "/home/pi/eye.state/workspace" },
    });
    expect(notes).toEqual([]);
  });

  test("an EvoClaw file is read unchanged", () => {
    const source = `agent_id = "hl"
agent_type = "trader"
[mqtt]
broker = "localhost"
port = 1884
keep_alive_secs = 30
[orchestrator]
url = "http://localhost:8420"
[trading]
wallet_address = "0x"`;
    const { settings, notes } = readSettings(source, { file: FILE });
    expect(settings.mqtt).toMatchObject({ url: "mqtt://localhost:1884", keepAliveSecs: 30 });
    expect(notes).toEqual([
      "[orchestrator] means nothing to this agent and is left alone",
      "[trading] means nothing to this agent and is left alone",
    ]);
  });

  test("the environment has priority over the file", () => {
    const source = 'agent_id = "x"\n[llm]\nbase_url = "http://a/v1"\nmodel = "m"\ntemperature = 0.1';
    const env = { LLM_MODEL: "big", TEMPERATURE: "0.5", MAX_TOKENS: "99", SYSTEM_PROMPT: "Be kind." };
    const { settings } = readSettings(source, { file: FILE, env });
    expect(settings.llm).toMatchObject({
      baseUrl: "http://a/v1",
      model: "big",
      temperature: 0.5,
      maxTokens: 99,
    });
    expect(settings.systemPrompt).toBe("Be kind.");
  });

  test("the form of the model's requests: of the file, the environment, or the address", () => {
    const of = (llm: string, env: Record<string, string> = {}) =>
      readSettings(`agent_id = "x"\n[llm]\nmodel = "m"\n${llm}`, { file: FILE, env }).settings.llm;
    expect(of('base_url = "http://a"\napi = "anthropic"')).toMatchObject({ api: "anthropic" });
    expect(of('base_url = "http://a"', { LLM_API: "anthropic" })).toMatchObject({ api: "anthropic" });
    // Newer models of Anthropic refuse a temperature.
    expect(of('base_url = "https://api.anthropic.com/v1"')).not.toHaveProperty("temperature");
    expect(of('base_url = "https://api.anthropic.com/v1"\napi = "openai"')).toMatchObject({
      temperature: 0.7,
    });
    const relay =
      'agent_id = "x"\n[llm]\nmodel = "m"\nbase_url = "https://g/v1/relay/home"\nrelay = true\napi = "anthropic"';
    expect(problemsOf(relay)[0]).toContain("llm.api: not beside llm.relay");
    expect(problemsOf('agent_id = "x"\n[llm]\napi = "claude"')[0]).toContain('"openai" or "anthropic"');
  });

  test("an unknown key is named, with the known ones", () => {
    expect(problemsOf('agent_id = "x"\n[mqtt]\nprot = 1883')).toEqual([
      "agent.toml: mqtt.prot: unknown; did you mean port? known [mqtt]: url, broker, port, keep_alive_secs, username, password, tls, ca, topic_prefix",
    ]);
  });

  test("C12 a mistyped section is named, with the intended one and all that exist", () => {
    expect(problemsOf('agent_id = "x"\n[mqqt]\nurl = "mqtt://a"')).toEqual([
      expect.stringMatching(
        /^agent\.toml: \[mqqt\]: there is no such section; did you mean \[mqtt\]\? Sections: \[mqtt\], .*\[policy\], \[mcp\]$/,
      ),
    ]);
  });

  test("a wrong value is named, with what would be right", () => {
    expect(problemsOf('agent_id = "a/b"\nclock = 7')).toEqual([
      expect.stringMatching(/agent_id: .*right would be: 1 to 64 letters/),
      expect.stringMatching(/clock: .*right would be: "auto", "synced" or "unsynced"/),
    ]);
    expect(problemsOf("")).toEqual([expect.stringContaining("agent_id: missing; right would be")]);
    expect(problemsOf('agent_id = "x"', { TEMPERATURE: "hot" })).toEqual([
      "agent.toml: environment TEMPERATURE: right would be: a number from 0 to 2",
    ]);
  });

  test("D4 the policy sets what happens to a tainted call, for all and by name", () => {
    const of = (policy: string) => `agent_id = "x"\n[policy]\n${policy}`;
    const source = of(
      'tainted = "deny"\nshell = { rule = "allow", tainted = "allow" }\nread = { tainted = "ask" }',
    );
    const { policy } = readSettings(source, { file: FILE }).settings;
    expect([...policy]).toEqual([["shell", "allow"]]);
    expect(policy.tainted?.all).toBe("deny");
    expect([...(policy.tainted?.named ?? [])]).toEqual([
      ["shell", "allow"],
      ["read", "ask"],
    ]);
    expect(readSettings(of('shell = "allow"'), { file: FILE }).settings.policy.tainted).toBeUndefined();
    expect(
      problemsOf(of('tainted = "never"\nshell = { rule = "yes", tainted = true, taint = "ask" }')),
    ).toEqual([
      "agent.toml: policy.shell.taint: unknown; known there: rule, tainted",
      'agent.toml: policy.shell.rule: wrong; right would be: "allow", "ask" or "deny"',
      'agent.toml: policy.shell.tainted: wrong; right would be: "allow", "ask" or "deny"',
      'agent.toml: policy.tainted: wrong; right would be: "allow", "ask" or "deny"',
    ]);
  });

  test("the policy: names of tools and permissions, and one of three words each", () => {
    const source = 'agent_id = "x"\n[agent]\napproval_secs = 30\n[policy]\nread = "ask"\nshell = "deny"';
    const { settings } = readSettings(source, { file: FILE });
    expect([...settings.policy]).toEqual([
      ["read", "ask"],
      ["shell", "deny"],
    ]);
    expect(settings.approvalMs).toBe(30_000);
    expect(problemsOf('agent_id = "x"\n[policy]\nread = true\nshell = "yes"')).toEqual([
      'agent.toml: policy.read: wrong; right would be: "allow", "ask" or "deny", or { rule = …, tainted = … } of these',
      'agent.toml: policy.shell: wrong; right would be: "allow", "ask" or "deny", or { rule = …, tainted = … } of these',
    ]);
    expect(problemsOf('agent_id = "x"\npolicy = "allow"')).toEqual([
      "agent.toml: policy: must be a section, [policy]",
    ]);
  });

  test("a group is a name like an agent's", () => {
    expect(readSettings('agent_id = "x"\ngroup = "lathes"', { file: FILE }).settings.group).toBe("lathes");
    expect(problemsOf('agent_id = "x"\ngroup = "two words"')[0]).toContain("group: ");
  });

  test("D16 a blank capabilities line is refused", () => {
    expect(problemsOf('agent_id = "x"\ncapabilities = "  "')[0]).toContain("capabilities: ");
  });

  test("D14 [agent] type is an alias of agent_type, and the two may not contradict each other", () => {
    const type = (source: string) =>
      readSettings(`agent_id = "x"\n${source}`, { file: FILE }).settings.agentType;
    expect(type('[agent]\ntype = "desktop"')).toBe("desktop");
    expect(type('agent_type = "desktop"\n[agent]\ntype = "desktop"')).toBe("desktop");
    expect(problemsOf('agent_id = "x"\nagent_type = "sensor"\n[agent]\ntype = "desktop"')).toEqual([
      'agent.toml: agent.type: "desktop", but agent_type is "sensor"; give one of the two',
    ]);
    expect(problemsOf('agent_id = "x"\n[agent]\ntype = "a b"')[0]).toContain('right would be: "monitor"');
  });

  test("D12 [tools] preset offers a set of tools, and enabled adds to it", () => {
    const enabled = (source: string) =>
      readSettings(`agent_id = "x"\n[tools]\n${source}`, { file: FILE }).settings.tools.enabled;
    expect(enabled('preset = "read_only"')).toEqual(["read", "grep", "find"]);
    expect(enabled('preset = "coding"\nenabled = ["cpu"]')).toEqual(["read", "bash", "edit", "write", "cpu"]);
    expect(problemsOf('agent_id = "x"\n[tools]\npreset = "most"')[0]).toContain(
      'right would be: "coding", "read_only", "all"',
    );
  });

  test("D1 a model has 120 s to its first byte, or first_byte_timeout_s", () => {
    const timeouts = (more: string) =>
      readSettings(`agent_id = "x"\n[llm]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n${more}`, {
        file: FILE,
      }).settings.llm?.timeouts;
    expect(timeouts("")).toMatchObject({ firstByteMs: 120_000, totalMs: 300_000 });
    expect(timeouts("first_byte_timeout_s = 240")).toMatchObject({ firstByteMs: 240_000, totalMs: 420_000 });
    expect(problemsOf('agent_id = "x"\n[llm]\nfirst_byte_timeout_s = 0')[0]).toContain(
      "right would be: whole seconds from 1 to 280",
    );
  });

  test("[serve] needs a token, and TLS beyond this machine", () => {
    const serve = (source: string) => `agent_id = "x"\n[serve]\n${source}`;
    expect(readSettings(serve(""), { file: FILE }).settings.serve).toBeUndefined();
    expect(
      readSettings(serve('enabled = true\ntoken_file = "tokens"'), { file: FILE }).settings.serve,
    ).toEqual({
      host: "127.0.0.1",
      port: 7_443,
      tokenFile: join(dirname(FILE), "tokens"),
      tls: undefined,
      exec: true,
      readOnly: false,
    });
    expect(problemsOf(serve("enabled = true"))[0]).toContain("serve.token_file: missing");
    const open = 'enabled = true\ntoken_file = "tokens"\nhost = "0.0.0.0"';
    expect(problemsOf(serve(open))[0]).toContain("give tls_cert and tls_key");
    expect(problemsOf(serve(`${open}\ntls_cert = "c"`))[0]).toContain("together, or neither");
    expect(
      readSettings(serve(`${open}\ntls_cert = "c"\ntls_key = "k"\nread_only = true`), { file: FILE }).settings
        .serve,
    ).toMatchObject({ exec: false, readOnly: true, tls: { key: join(dirname(FILE), "k") } });
    expect(problemsOf(serve("exec = true\nread_only = true"))[0]).toContain(
      "serve.exec: not beside read_only",
    );
    expect(problemsOf(serve('enabled = true\ntoken_file = "x.state/workspace/tokens"'))[0]).toContain(
      "serve.token_file: tools can read",
    );
  });

  test("[[nodes]] are other machines over ssh and HTTP, and the preset remote works on one", () => {
    const http = (more = "") =>
      `agent_id = "x"\n[[nodes]]\nname = "gpu"\nkind = "http"\ncwd = "/srv/work"\ntoken_file = "gpu-token"\n${more}`;
    const url = 'url = "https://gpu.lan:7443"\n';
    const ssh =
      '[[nodes]]\nname = "pi"\nkind = "ssh"\nhost = "pi.lan"\nuser = "pi"\nkey = "~/.ssh/k"\ncwd = "/srv"\n';
    const read = (source: string) =>
      readSettings(source, { file: FILE, env: { HOME: "/home/me" } }).settings.tools;
    expect(read(http(url + ssh)).nodes.known).toEqual([
      {
        name: "gpu",
        kind: "http",
        url: "https://gpu.lan:7443",
        cwd: "/srv/work",
        token_file: join(dirname(FILE), "gpu-token"),
      },
      { name: "pi", kind: "ssh", host: "pi.lan", user: "pi", key: "/home/me/.ssh/k", port: 22, cwd: "/srv" },
    ]);
    const problem = (source: string) => problemsOf(source)[0];
    expect(problem(http())).toContain("nodes.0.url:");
    expect(problem(http('url = "http://gpu.lan:7443"'))).toContain("is without TLS");
    expect(problem(http(`${url}token = "x"`))).toContain("nodes.0.");
    expect(problem(http(url + ssh.replace("pi.lan", "-oProxyCommand=x")))).toContain("nodes.1: The host");
    expect(problem(http(url + ssh.replace('"pi"', '"gpu"')))).toContain("there is another node 'gpu'");
    expect(problem(http(url).replace('"gpu"', '"local"'))).toContain("means this device");
    const preset = (node: string) => `${http(url)}[tools]\npreset = "remote"\n${node}`;
    expect(read(preset('node = "gpu"'))).toMatchObject({ nodes: { only: "gpu" }, enabled: PRESETS.remote });
    expect(problem(preset(""))).toContain("tools.node: missing");
    expect(problem(preset('node = "pi"'))).toContain('right would be: "gpu"');
    expect(problem('agent_id = "x"\n[tools]\nnode = "gpu"')).toContain("only beside preset");
  });

  test("contradicting settings are reported", () => {
    expect(problemsOf('agent_id = "x"\n[llm]\nmodel = "m"')[0]).toContain("llm.base_url: missing beside");
    expect(problemsOf('agent_id = "x"\n[mqtt]\nurl = "mqtt://a"\nport = 1')[0]).toContain("not both");
    expect(problemsOf("agent_id = ")[0]).toContain("agent.toml: not TOML");
    expect(problemsOf('agent_id = "x"\nmqtt = 5')[0]).toContain("mqtt: must be a section");
  });

  test("[trace] names its key, or the variable that wins over it", () => {
    const on = 'agent_id = "x"\n[trace]\nendpoint = "http://10.0.0.1:4318"\nheaders = "a=b"';
    expect(readSettings(on, { file: FILE }).settings.trace).toMatchObject({
      url: "http://10.0.0.1:4318/v1/traces",
      headers: { a: "b" },
    });
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://other.example.org" };
    expect(readSettings(on, { file: FILE, env }).settings.trace?.url).toBe(
      "https://other.example.org/v1/traces",
    );
    expect(problemsOf('agent_id = "x"\n[trace]\nendpoint = "10.0.0.1"')[0]).toContain(
      "trace.endpoint: should be",
    );
    expect(problemsOf(`${on.replace("a=b", "a")}`)[0]).toContain("trace.headers: should be name=value");
  });

  test("the example file is valid, and states every default correctly", () => {
    const plain = readSettings(EXAMPLE, { file: FILE }).settings;
    expect(plain.agentId).toBe("alex-eye");
    // With every default in a comment enabled, nothing may change.
    const switchedOn = EXAMPLE.replace(/^# \w+ = .*# (no default|not beside \w+)$/gm, "");
    const full = switchedOn.replace(/^# (\w+ = .*)$/gm, "$1");
    expect(full).not.toBe(switchedOn);
    // Defaults of the web tools count only when there are web tools.
    const withWeb = (source: string) => source.replace(/^(# )?enabled = false$/m, "enabled = true");
    expect(readSettings(full, { file: FILE }).settings).toEqual(plain);
    const web = readSettings(withWeb(EXAMPLE), { file: FILE }).settings;
    const webInFull = readSettings(withWeb(full), { file: FILE }).settings;
    expect(webInFull.tools.web).toMatchObject({
      only: web.tools.web?.only,
      allowed: web.tools.web?.allowed,
      codesearch: { baseUrl: CONTEXT7_BASE_URL },
    });
    expect(full).toContain(`brave_base_url = "${BRAVE_BASE_URL}"`);
  });

  test("the example file has every key, in its section, and each example in it is valid", () => {
    const uncommented = EXAMPLE.replace(/^# (\w+ = .*# not beside \w+)$/gm, "").replace(
      /^# (\w+ = .*)$/gm,
      "$1",
    );
    expect(() => readSettings(uncommented, { file: FILE })).not.toThrow();
    expect(keysOfExample()).toEqual(knownKeys());
  });
});

const HERE = import.meta.dirname;
const EXAMPLE = readFileSync(join(HERE, "../agent.example.toml"), "utf8");

/** Names like `mqtt.url`, sorted; top-level keys have no section. */
function knownKeys(): string[] {
  return Object.entries(SECTIONS)
    .flatMap(([section, keys]) => Object.keys(keys).map((key) => fullName(section, key)))
    .sort();
}

function keysOfExample(): string[] {
  let section = "";
  const keys = EXAMPLE.split("\n").flatMap((line) => {
    section = /^\[([\w.]+)\]$/.exec(line)?.[1] ?? section;
    const key = /^(?:# )?(\w+) = /.exec(line)?.[1];
    return key === undefined ? [] : [fullName(section, key)];
  });
  return keys.sort();
}

function fullName(section: string, key: string): string {
  return section === "" ? key : `${section}.${key}`;
}
