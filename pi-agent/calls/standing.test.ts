/** The device's own check of the standing permission in a command: it turns a question into a yes, and nothing else. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Rule } from "../config/policy-rules.ts";
import { localFiles } from "../env/local-files.ts";
import { Identity, openIdentity } from "../link/identity.ts";
import { type Served, serve } from "../testing/served.ts";
import { write } from "../tools/files/write.ts";

const ID = "allowed";
const DENIES = "strict";
const gateway = new Identity(KeyPair.make());
const folder = mkdtempSync(join(tmpdir(), "edgecall-standing-"));
const workspace = join(folder, "workspace");
const notes = join(workspace, "notes");
const DAY_MS = 86_400_000;

let served: Served;
const agents: Record<string, Awaited<ReturnType<Served["start"]>>> = {};
const keys: Record<string, string> = {};
let n = Date.now();

beforeAll(async () => {
  mkdirSync(notes, { recursive: true });
  mkdirSync(join(folder, "elsewhere"));
  symlinkSync(join(folder, "elsewhere"), join(notes, "link"));
  served = await serve();
  for (const [agentId, rule] of [
    [ID, "ask"],
    [DENIES, "deny"],
  ] as const) {
    const stateDir = join(folder, agentId);
    keys[agentId] = (await openIdentity(stateDir)).publicKey;
    const policy = new Map<string, Rule>([
      ["toggle", rule],
      ["write", rule],
    ]);
    const files = write({ name: "local", files: localFiles({ cwd: workspace }) });
    agents[agentId] = await served.start(
      { agentId, stateDir, gatewayKey: gateway.publicKey, policy, clock: "synced" },
      { tools: [served.toggle.tool, files] },
    );
  }
});
afterAll(async () => {
  for (const agent of Object.values(agents)) await agent.stop();
  await served.stop();
});

/** The advert of an action, as the gateway has it. */
function advertOf(agent: string, name: string): ActionAdvert {
  const { text } = served.peer.raw.findLast(({ id, kind }) => id === agent && kind === "tools") ?? {
    text: "",
  };
  const { tools } = JSON.parse(text) as { tools: ActionAdvert[] };
  const advert = tools.find((one) => one.name === name);
  if (!advert) throw new Error(`no ${name}`);
  return advert;
}

async function permission(
  action: string,
  bounds: StandingPermission["actions"][string],
  agent = ID,
): Promise<StandingPermission> {
  return {
    id: "p-1",
    device: agent,
    key: keys[agent] ?? "",
    version: await actionVersion(advertOf(agent, action)),
    actions: { [action]: bounds },
    who: { person: "ben" },
    conversation: null,
    channels: null,
    tainted: false,
    chain: false,
    hours: null,
    until: Date.now() + 30 * DAY_MS,
    by: "ann",
    how: "verified",
    question: null,
    at: Date.now() - DAY_MS,
  };
}

const BEN = { principal: "ben", role: "member", channel: "api" };

/** @returns its report's status, or `asks` */
async function run(
  tool: string,
  parameters: object,
  given: unknown,
  more: Record<string, unknown> = {},
  agent = ID,
): Promise<string> {
  const request_id = served.nextId();
  const payload = { tool, parameters };
  const command = {
    command: "tool",
    payload,
    request_id,
    expires_in_ms: 60_000,
    caller: BEN,
    permission: given,
    ...more,
  };
  const text = stamped(JSON.stringify(command), { boot_id: agents[agent]?.bootId ?? "", n: ++n });
  await served.peer.send(agent, gateway.sign({ agent, kind: "commands" }, text));
  return await until(
    () => {
      if (served.peer.events(request_id, "question").length > 0) return "asks";
      const status = served.peer.reports(request_id)[0]?.payload.status;
      return status === undefined ? undefined : String(status);
    },
    { what: `the end of ${request_id}` },
  );
}

/** The record's files, one line a call. */
function auditOf(agent: string): string {
  const stateDir = join(folder, agent);
  return globSync("audit*/**", { cwd: stateDir })
    .map((name) => join(stateDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

const ANY = { value: { oneOf: ["a", "b"], optional: true as const } };

test("what it covers runs without a question, with the permission in the record", async () => {
  const given = await permission("toggle", ANY);
  expect(await run("toggle", { value: "a" }, given)).toBe("success");
  expect(await run("toggle", {}, given)).toBe("success");
  const record = await until(() => auditOf(ID).includes('"p-1"') && auditOf(ID), { what: "the record" });
  const line = record.split("\n").find((one) => one.includes('"p-1"')) ?? "";
  expect(JSON.parse(line)).toMatchObject({
    tool: "toggle",
    approval: { approved: true, by: "ann", how: "verified", permission: "p-1" },
  });
});

test("everything else asks", async () => {
  const given = await permission("toggle", ANY);
  const { version: _, ...without } = given;
  const runs = served.toggle.runs.length;
  const cases: ReadonlyArray<[string, object, unknown, Record<string, unknown>?]> = [
    ["no permission", { value: "a" }, undefined],
    ["another value", { value: "c" }, given],
    ["another device's key", { value: "a" }, { ...given, key: keys[DENIES] }],
    ["another version", { value: "a" }, { ...given, version: "v" }],
    ["no version", { value: "a" }, without],
    ["another action", { value: "a" }, { ...given, actions: { other: ANY } }],
    ["another person", { value: "a" }, { ...given, who: { person: "mia" } }],
    ["a program", { value: "a" }, { ...given, who: "everybody" }, { caller: { ...BEN, channel: "mcp" } }],
    [
      "another agent",
      { value: "a" },
      { ...given, who: "everybody" },
      { caller: { ...BEN, principal: "agent:nas" } },
    ],
    [
      "another home",
      { value: "a" },
      { ...given, who: "everybody" },
      { caller: { ...BEN, principal: "home:next" } },
    ],
    ["nobody named", { value: "a" }, { ...given, who: "everybody" }, { caller: undefined }],
    ["a stranger's text", { value: "a" }, given, { tainted: true }],
    ["a chain", { value: "a" }, given, { caller: { ...BEN, chain: { id: "c-1", via: ["nas"] } } }],
    ["after its end", { value: "a" }, { ...given, until: Date.now() - 1 }],
    ["before its time", { value: "a" }, { ...given, at: Date.now() + DAY_MS }],
    ["one conversation's", { value: "a" }, { ...given, conversation: "c-1" }],
    ["another front door's", { value: "a" }, { ...given, channels: ["telegram"] }],
    ["a text", { value: "a" }, JSON.stringify(given)],
    ["a list", { value: "a" }, [given]],
    ["with an unknown field", { value: "a" }, { ...given, dangerous: false }],
  ];
  for (const [name, parameters, one, more] of cases)
    expect.soft([name, await run("toggle", parameters, one, more)]).toEqual([name, "asks"]);
  expect(served.toggle.runs).toHaveLength(runs);
}, 60_000);

test("one for everybody is for each person, and a stranger's text is covered where it says so", async () => {
  const given = { ...(await permission("toggle", ANY)), who: "everybody", tainted: true };
  const mia = { ...BEN, principal: "telegram:7", channel: "telegram" };
  expect(await run("toggle", { value: "b" }, given, { caller: mia, tainted: true })).toBe("success");
});

test("one of a rule that acts is for that rule alone", async () => {
  const given = { ...(await permission("toggle", ANY)), who: { rule: "a-7f2c", version: 3 } };
  const caller = { principal: "rule:a-7f2c", role: "member", channel: "rule" };
  expect(await run("toggle", { value: "b" }, given, { caller })).toBe("success");
  const others = [
    ["another rule", given, { ...caller, principal: "rule:a-7f2d" }],
    ["a person of that name", given, { ...caller, principal: "a-7f2c" }],
    ["another front door", given, { ...caller, channel: "api" }],
    ["everybody's", { ...given, who: "everybody" }, caller],
  ] as const;
  for (const [name, one, asker] of others)
    expect.soft([name, await run("toggle", { value: "a" }, one, { caller: asker })]).toEqual([name, "asks"]);
  expect(await run("toggle", { value: "c" }, given, { caller })).toBe("asks");
});

test("what the device's policy denies stays denied", async () => {
  const given = await permission("toggle", ANY, DENIES);
  const runs = served.toggle.runs.length;
  expect(await run("toggle", { value: "a" }, given, {}, DENIES)).toBe("error");
  expect(served.toggle.runs).toHaveLength(runs);
});

test("a folder is for real files in it alone, and for none that git runs", async () => {
  const given = await permission("write", { path: { under: notes }, content: { any: "text", max: 10 } });
  expect(await run("write", { path: join(notes, "a.txt"), content: "milk" }, given)).toBe("success");
  expect(readFileSync(join(notes, "a.txt"), "utf8")).toBe("milk");
  for (const parameters of [
    { path: join(notes, "a.txt"), content: "far too long" },
    { path: join(workspace, "a.txt"), content: "milk" },
    { path: "notes/a.txt", content: "milk" },
    { path: `${notes}/../a.txt`, content: "milk" },
    { path: join(notes, "link", "a.txt"), content: "milk" },
    { path: join(notes, ".git", "hooks", "post-commit"), content: "milk" },
    { path: join(notes, "a.txt"), content: "milk", overwrite: true },
  ])
    expect.soft([parameters, await run("write", parameters, given)]).not.toEqual([parameters, "success"]);
});
