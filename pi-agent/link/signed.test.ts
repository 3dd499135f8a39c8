/** An agent that knows its gateway's key: its messages are signed, and a stranger's commands are not run. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Stamp, stamped } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type Served, serve } from "../testing/served.ts";
import { Identity, openIdentity, signedTextVerifier } from "./identity.ts";

const newIdentity = () => new Identity(KeyPair.make());
const gateway = newIdentity();
const folder = mkdtempSync(join(tmpdir(), "edgecall-signed-"));
const stateDir = join(folder, "state");
/** The id of the agent under test; `served` has another one, `eye`, that knows no gateway. */
const ID = "sealed";

type Fields = Record<string, unknown>;
let served: Served;
let agent: Awaited<ReturnType<Served["start"]>>;
let isAgents: ReturnType<typeof signedTextVerifier>;
let n = Date.now();

const startAgent = () => served.start({ agentId: ID, stateDir, gatewayKey: gateway.publicKey });

beforeAll(async () => {
  served = await serve();
  isAgents = signedTextVerifier((await openIdentity(stateDir)).publicKey);
  agent = await startAgent();
});
afterAll(async () => {
  await agent.stop();
  await served.stop();
});

const toggle = { tool: "toggle", parameters: {} };

function order(command: string, payload: Fields, more: Partial<Stamp> & { id?: string } = {}) {
  const request_id = more.id ?? served.nextId();
  n += 1;
  const body = JSON.stringify({ command, payload, request_id, expires_in_ms: 60_000 });
  const text = stamped(body, { boot_id: more.boot_id ?? agent.bootId, n: more.n ?? n });
  return { request_id, text };
}

function signed(command: string, payload: Fields = {}, more: Parameters<typeof order>[2] = {}, by = gateway) {
  const { request_id, text } = order(command, payload, more);
  return { request_id, text: by.sign({ agent: ID, kind: "commands" }, text) };
}

/** Sends a command. @returns the agent's first report after that, as published */
async function send({ request_id, text }: { request_id: string; text: string }) {
  const before = served.peer.reports(request_id).length;
  await served.peer.send(ID, text);
  return await until(() => served.peer.reports(request_id)[before], { what: `a report of ${request_id}` });
}

/** Resolves when the agent has read everything that was sent before, because it reads in order. */
const passed = () => send(signed("ping"));

async function expectNotRun(text: string): Promise<void> {
  const runs = served.toggle.runs.length;
  await served.peer.send(ID, text);
  await passed();
  expect(served.toggle.runs).toHaveLength(runs);
}

const REFUSED = /^This device obeys its own gateway alone, and refused a command: .+\. Nothing was run\./;

test("every message has its signature, a rising counter, and its run", async () => {
  await send(signed("tool", toggle));
  await until(() => served.peer.raw.some(({ id, kind }) => id === ID && kind === "reports"));
  const said = served.peer.raw.filter(({ id }) => id === ID);
  expect(new Set(said.map(({ kind }) => kind))).toEqual(
    new Set(["presence", "capabilities", "tools", "reports"]),
  );
  for (const { kind, text } of said)
    expect(isAgents({ agent: ID, kind }, text), `${kind} ${text}`).toBe(true);
  const numbers = said.map(({ text }) => (JSON.parse(text) as Stamp).n);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  for (const { text } of said) expect(JSON.parse(text)).toMatchObject({ boot_id: agent.bootId });
});

test("its gateway's command is run once, however often it arrives", async () => {
  const runs = served.toggle.runs.length;
  const command = signed("tool", toggle);
  const first = await send(command);
  expect(first.payload.status).toBe("success");
  expect((await send(command)).payload).toEqual(first.payload);
  expect(served.toggle.runs).toHaveLength(runs + 1);
});

describe("is refused, and nothing is run:", () => {
  const refusals: Array<[string, () => { request_id: string; text: string }]> = [
    ["a command without a signature", () => order("tool", toggle)],
    ["one that a stranger signed", () => signed("tool", toggle, {}, newIdentity())],
    ["one for another run of this agent", () => signed("tool", toggle, { boot_id: "the boot before" })],
    [
      "one for another agent",
      () => {
        const { request_id, text } = order("tool", toggle);
        return { request_id, text: gateway.sign({ agent: "eye", kind: "commands" }, text) };
      },
    ],
    [
      "one that was said on another topic",
      () => {
        const { request_id, text } = order("tool", toggle);
        return { request_id, text: gateway.sign({ agent: ID, kind: "events" }, text) };
      },
    ],
    [
      "one whose argument was changed",
      () => {
        const { request_id, text } = signed("tool", { ...toggle, parameters: { value: "a" } });
        return { request_id, text: text.replace('"value":"a"', '"value":"b"') };
      },
    ],
    ["a shutdown", () => order("shutdown", {})],
    ["a cancel", () => order("cancel", { request_id: "x" })],
    ["an answer", () => order("answer", { question_id: "q", answer: "approve" })],
    ["an ack", () => order("ack", { request_id: "x" })],
  ];
  test.each(refusals)("%s", async (_, make) => {
    const runs = served.toggle.runs.length;
    const command = make();
    const report = await send(command);
    expect(report).toMatchObject({
      report_type: "error",
      payload: { error: expect.stringMatching(REFUSED) },
    });
    // A signed refusal would be taken for the answer to a call with that id.
    expect(report).not.toHaveProperty("sig");
    expect(served.toggle.runs).toHaveLength(runs);
  });

  test("a recorded command, with a ledger that does not know it", async () => {
    const command = signed("get_metrics");
    await send(command);
    await served.peer.send(ID, command.text);
    await passed();
    expect(served.peer.reports(command.request_id)).toHaveLength(1);
  });

  test("every command that was recorded before a restart", async () => {
    const commands = [
      signed("tool", toggle),
      signed("ping"),
      signed("tool", { tool: "counted", parameters: {} }),
    ];
    for (const command of commands) await send(command);
    const unsent = signed("tool", toggle);
    await agent.stop();
    agent = await startAgent();
    const counts = served.counted.runs.length;
    for (const { text } of [...commands, unsent]) await expectNotRun(text);
    expect(served.counted.runs).toHaveLength(counts);
  });

  test("anything else that strangers make of it", async () => {
    const { text } = signed("tool", toggle);
    const change = fc
      .tuple(fc.nat(text.length - 1), fc.string({ unit: "binary", maxLength: 3 }))
      .map(([at, put]) => text.slice(0, at) + put + text.slice(at + 1));
    const runs = served.toggle.runs.length;
    await fc.assert(
      fc.asyncProperty(fc.oneof(change, fc.uint8Array({ maxLength: 100 })), async (sent) => {
        if (sent !== text) await served.peer.send(ID, typeof sent === "string" ? sent : Buffer.from(sent));
      }),
      { numRuns: 150 },
    );
    await passed();
    expect(served.toggle.runs).toHaveLength(runs);
    const failed = ({ event }: { event: string }) =>
      event === "command.failed" || event === "mqtt.message_failed";
    expect(served.lines.filter(failed)).toEqual([]);
  });
});

test("a presence that a stranger wrote on its topic is corrected, and is not taken for a second agent", async () => {
  const births = () =>
    served.peer.raw.filter(
      ({ id, kind, text }) => id === ID && kind === "presence" && text.includes('"birth"'),
    );
  const before = births().length;
  for (const state of ["offline", "online"]) {
    const forged = JSON.stringify({ state, boot_id: "mallory", reason: "forged" });
    await served.peer.send(ID, forged, { kind: "presence", retain: true });
  }
  const latest = () => served.peer.raw.findLast(({ id, kind }) => id === ID && kind === "presence")?.text;
  await until(() => births().length > before && latest()?.includes('"birth"'), {
    what: "the birth is said again, and stands",
  });
  expect(served.lines.filter(({ event }) => event === "mqtt.duplicate_agent_id")).toEqual([]);
});

test("its last will is signed, newer than all its messages, and older than its next birth", async () => {
  const wills = () => served.peer.raw.filter(({ id, text }) => id === ID && text.includes('"last will"'));
  expect(wills()).toEqual([]);
  served.cut(ID);
  const will = await until(() => wills()[0], { what: "the last will" });
  expect(isAgents({ agent: ID, kind: "presence" }, will.text)).toBe(true);
  const numberOf = (text: string) => (JSON.parse(text) as Stamp).n;
  const index = served.peer.raw.indexOf(will);
  const next = await until(() =>
    served.peer.raw.slice(index + 1).find(({ id, text }) => id === ID && text.includes('"birth"')),
  );
  for (const { text } of served.peer.raw
    .slice(0, index)
    .filter(({ id, text }) => id === ID && text.includes('"sig"')))
    expect(numberOf(text)).toBeLessThan(numberOf(will.text));
  expect(numberOf(next.text)).toBeGreaterThan(numberOf(will.text));
  await passed();
});

test("an advert that did not change is published on the next connection as it was signed first", async () => {
  const adverts = () =>
    served.peer.raw.filter(({ id, kind }) => id === ID && (kind === "capabilities" || kind === "tools"));
  const before = adverts();
  served.cut(ID);
  await until(() => adverts().length >= before.length + 2, { what: "the adverts of the next connection" });
  for (const { kind, text } of adverts().slice(before.length))
    expect(before.filter((advert) => advert.kind === kind).map((advert) => advert.text)).toContain(text);
  await passed();
});

test("O2: a paired device that lost gateway.json starts with words, and runs nothing that the broker brings", async () => {
  const lost = join(folder, "lost");
  await openIdentity(lost);
  const before = served.toggle.runs.length;
  const started = await served
    .start({ agentId: "lost", stateDir: lost })
    .catch((error: Error) => error.message);
  if (typeof started !== "string") {
    await served.peer.ask("lost", { command: "tool", payload: toggle, request_id: served.nextId() });
    await started.stop();
  }
  expect(served.toggle.runs).toHaveLength(before);
  expect(started).toMatch(/gateway\.json: missing, but key\.json .* pair this device again/);
});
