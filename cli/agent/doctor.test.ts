/** The links that can be checked without a service: settings, broker, tools, model. */
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openIdentity, rememberGateway } from "../../pi-agent/link/identity.ts";
import { type Broker, startBroker } from "../../pi-agent/testing/home.ts";
import { oneTool, put } from "../../pi-agent/testing/skill-folder.ts";
import { COMMANDS } from "../commands.ts";
import { runCommandLine } from "../run-command-line.ts";
import { brokerFinding } from "../service/checks/findings.ts";
import { agentLines } from "../service/checks/status.ts";
import { findGateway, findUnit } from "./findings.ts";
import { unitText } from "./unit.ts";

let broker: Broker;
beforeAll(async () => {
  broker = await startBroker();
});
afterAll(() => broker.stop());

const model = createServer((request, response) => {
  response.statusCode = request.headers.authorization === "Bearer right" ? 200 : 401;
  response.end(JSON.stringify({ data: [{ id: "small" }] }));
}).listen(0, "127.0.0.1");
afterAll(() => model.close());

type Finding = { link: string; is: string; says: string; todo?: string };

type Found = { code: number; all: Finding[]; of(link: string): Finding | undefined };

/** Runs a command, and collects its output. */
async function edgecall(...words: string[]): Promise<{ code: number; out: string }> {
  let out = "";
  const io = {
    out: (text: string) => {
      out += text;
    },
    err: () => {},
    terminal: false,
    watched: false,
    person: false,
  };
  return { code: await runCommandLine(COMMANDS, words, {}, io), out };
}

async function doctor(settings: string): Promise<Found> {
  const file = join(mkdtempSync(join(tmpdir(), "edgecall-doctor-")), "agent.toml");
  writeFileSync(file, settings);
  const { code, out } = await edgecall("agent", "doctor", "--json", "--config", file);
  const findings = JSON.parse(out) as Finding[];
  return { code, all: findings, of: (link) => findings.find((finding) => finding.link === link) };
}

const settings = (llm = "") => `agent_id = "eye"
[mqtt]
url = "mqtt://127.0.0.1:${broker.port}"
${llm}`;
const llm = (key: string, name: string) =>
  `[llm]\nbase_url = "http://127.0.0.1:${(model.address() as AddressInfo).port}/v1"\napi_key = "${key}"\nmodel = "${name}"\n`;

test("the service's unit is told when another version wrote it", () => {
  for (const systemd of [252, 257]) expect(findUnit(unitText({ systemd }))).toBeUndefined();
  const earlier = unitText({ systemd: 252 }).replace("KillMode=process\n", "");
  expect(findUnit(earlier)).toMatchObject({
    link: "unit",
    is: "left",
    todo: expect.stringContaining("install"),
  });
});

test("a working chain has no findings", async () => {
  const found = await doctor(settings(llm("right", "small")));
  expect(found.of("settings")).toMatchObject({ is: "fine" });
  expect(found.of("broker")).toMatchObject({ is: "fine", says: expect.stringContaining("answers") });
  expect(found.of("tools")).toMatchObject({ is: "fine", says: expect.stringContaining("memory") });
  expect(found.of("model")).toMatchObject({ is: "fine", says: expect.stringContaining("small") });
  // It is no service, so no finding is about one.
  expect(JSON.stringify(found.all)).not.toContain("/var/lib/edgecall");
});

test("each broken link is named, with what to do", async () => {
  expect((await doctor('agent_id = "a b"')).of("settings")).toMatchObject({
    is: "wrong",
    says: expect.stringContaining("agent_id"),
  });
  const nobody = await doctor('agent_id = "eye"\n[mqtt]\nurl = "mqtt://127.0.0.1:1"');
  expect(nobody.code).toBe(1);
  expect(nobody.of("broker")).toMatchObject({
    is: "wrong",
    todo: expect.stringMatching(
      /^nothing listens there, which is this machine itself: .*Mosquitto.* mqtt\.url has to name that one$/,
    ),
  });
  expect((await doctor(settings(llm("wrong", "small")))).of("model")).toMatchObject({
    is: "wrong",
    todo: expect.stringContaining("api_key"),
  });
  expect((await doctor(settings(llm("right", "large")))).of("model")).toMatchObject({
    is: "wrong",
    says: expect.stringContaining('no "large"'),
  });
});

test("O2: a lost, damaged or foreign gateway.json is told with its cure", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "edgecall-doctor-state-"));
  const pairing = async () => (await doctor(`state_dir = "${stateDir}"\n${settings()}`)).of("pairing");
  expect(await pairing()).toMatchObject({ is: "left", says: expect.stringContaining("not paired") });
  const { publicKey } = await openIdentity(stateDir);
  expect(await pairing()).toMatchObject({
    is: "wrong",
    says: expect.stringMatching(/gateway\.json: missing, but key\.json .* pair this device again/),
  });
  await rememberGateway(stateDir, publicKey);
  expect(await pairing()).toMatchObject({ is: "fine" });
  const file = join(stateDir, "gateway.json");
  if (process.getuid?.() === 0) {
    chownSync(stateDir, 1234, 1234);
    expect(await pairing()).toMatchObject({
      is: "wrong",
      says: expect.stringContaining(`sudo chown 1234 ${file}`),
    });
    chownSync(stateDir, 0, 0);
  }
  writeFileSync(file, "");
  expect(await pairing()).toMatchObject({ is: "wrong", says: expect.stringContaining(`${file}: damaged`) });
});

test("N10: a missing file is told in words, by doctor and by every command", async () => {
  const found = await doctor(`${settings().trimEnd().replace("mqtt://", "mqtts://")}\nca = "/no/ca.pem"\n`);
  expect(found.of("broker")).toMatchObject({
    is: "wrong",
    says: "mqtt.ca: /no/ca.pem: there is no such file or folder",
  });
  expect(JSON.stringify(found.all)).not.toContain("ENOENT");
  const { out } = await edgecall("bridge", "doctor", "--json", "--config", "/no/bridge.env");
  expect(out).not.toContain("ENOENT");
  expect(out).toContain("/no/bridge.env: there is no such file or folder");
});

test("[serve] is checked: its tokens, and what is served where", async () => {
  const tokens = join(mkdtempSync(join(tmpdir(), "edgecall-doctor-")), "tokens");
  const served = settings(`[serve]\nenabled = true\ntoken_file = "${tokens}"\n`);
  expect((await doctor(served)).of("serving")).toMatchObject({
    is: "wrong",
    says: expect.stringContaining("serve.token_file: cannot be read"),
  });
  writeFileSync(tokens, `laptop ${"a".repeat(40)}\n`, { mode: 0o600 });
  expect((await doctor(served)).of("serving")).toMatchObject({
    is: "fine",
    says: "files and programs at 127.0.0.1:7443",
  });
});

test("D3 a rule for a missing skill, an error in a skill.toml and a missing execute bit are named", {
  tags: ["needs/bubblewrap"],
}, async () => {
  const skills = mkdtempSync(join(tmpdir(), "edgecall-skills-"));
  put(skills, {
    "greet/skill.toml": oneTool("greet"),
    "greet/bin/dt-greet": "#!/bin/sh\n",
    "slip/skill.toml": "[[tools]\n",
  });
  chmodSync(join(skills, "greet/bin/dt-greet"), 0o644);
  const more = `[tools]\nskills_path = "${skills}"\n[policy]\ngone = "deny"\ngreet = "allow"\nsnapshot = "deny"\n`;
  const found = await doctor(settings(more));
  expect(found.of("settings")).toMatchObject({ is: "fine" });
  expect(found.of("sandbox")).not.toMatchObject({ is: "wrong" });
  const says = (is: string) => found.all.filter((one) => one.is === is).map((one) => one.says);
  expect(says("wrong")).toEqual([
    expect.stringMatching(/^not gone: policy\.gone: .*\(deny\) is kept.*'slip' \(skill\.toml: not TOML/),
    expect.stringMatching(/^not greet: skill 'greet': .*dt-greet may not be run: chmod \+x/),
  ]);
  expect(says("left")).toContainEqual(expect.stringMatching(/^not slip: skill: skill\.toml: not TOML/));
  expect(found.code).toBe(1);
});

test.each(["firejail", "podman"])("D13 %s: the doctor says what is missing, or what to do", async (kind) => {
  const sandbox = (await doctor(settings(`[tools]\nsandboxing = "${kind}"\n`))).of("sandbox");
  if (sandbox?.is === "fine") expect(sandbox.says).toContain(`less promised than by bubblewrap: ${kind}`);
  else expect(sandbox).toMatchObject({ is: "wrong", todo: expect.stringContaining(`install ${kind}`) });
});

test("a refused password is distinguished from a missing broker", async () => {
  broker.aedes.authenticate = (_client, _name, _password, done) =>
    done(Object.assign(new Error("no"), { returnCode: 4 as const }), false);
  try {
    expect((await doctor(settings())).of("broker")).toMatchObject({
      is: "wrong",
      todo: expect.stringMatching(/mqtt\.password is wrong, or .* key was revoked: .*Replace/),
    });
  } finally {
    broker.aedes.authenticate = (_client, _name, _password, done) => done(null, true);
  }
});

test("a port without a listener on another machine says nothing about this one", () => {
  const words = { url: "mqtt.url", refused: "", section: "", who: "" };
  const message = "connect ECONNREFUSED 192.168.1.2:1883";
  const check = { is: "failed", code: "ECONNREFUSED", message } as const;
  const { says, todo } = brokerFinding("mqtt://192.168.1.2:1883", check, words);
  expect(says).toBe(`mqtt://192.168.1.2:1883: ${message}`);
  expect(todo).toMatch(/^nothing listens there: is Mosquitto running there .* is mqtt\.url right\?$/);
});

test("it shows what the running agent learned about its gateway, as `status` does", () => {
  const problem = "agent 0.1.0 is too old for gateway 0.3.0: update the agent";
  const todo = expect.stringContaining("sudo edgecall agent update");
  const told = { version: "0.3.0", problem };
  expect(findGateway(told)).toEqual({ link: "gateway", is: "wrong", says: problem, todo });
  expect(findGateway({ version: "0.1.2" })).toMatchObject({ is: "fine", says: "0.1.2" });
  expect(findGateway(undefined)).toMatchObject({ is: "left" });
  const rest = { agent_id: "eye", version: "0.1.0", pid: 1, started_at: "", since: "", broker: "" };
  const status = { ...rest, online: true, model: null, tools: [], unavailable: [], last_errors: [] };
  expect(agentLines({ ...status, gateway: told })).toContain(`gateway   ${problem}`);
  expect(agentLines({ ...status, gateway: { version: "0.1.2" } })).toContain("gateway   0.1.2");
  expect(agentLines(status)).not.toContainEqual(expect.stringMatching(/^gateway/));
});

test("C12 the status of an agent that is not the service, by its settings", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "edgecall-status-")), "agent.toml");
  writeFileSync(file, settings());
  const { code, out } = await edgecall("agent", "status", "--config", file);
  expect(code).toBe(1);
  expect(out).toContain(`settings  ${file}`);
  expect(out).toContain("agent     eye");
  expect(out).toContain(`mqtt://127.0.0.1:${broker.port} is there, and has not heard of it`);
});
