/** The agent's side of a session: whom it obeys in it, when it uses it, and what ends it. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  importMacKey,
  macOf,
  newSessionHalf,
  type SessionKey,
  type SessionKeys,
  sessionSecret,
  splitMac,
  splitSessionKeys,
  withMac,
} from "@edgecall/core/protocol/session.ts";
import { type Key, type Place, stamped } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { MacKey } from "@edgecall/node/session.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type Served, serve } from "../testing/served.ts";
import { Identity, openIdentity, signedTextVerifier } from "./identity.ts";

const ID = "sealed";
const COMMAND: Place = { agent: ID, kind: "commands" };
const REPORT: Place = { agent: ID, kind: "reports" };
const gateway = new Identity(KeyPair.make());
const stateDir = join(mkdtempSync(join(tmpdir(), "edgecall-session-")), "state");
const TOGGLE = { tool: "toggle", parameters: {} };

type Fields = Record<string, unknown>;
type Sent = { request_id: string; text: string };
/** What the gateway has of a session. */
type Shared = { half: string; commands: Key; raw: SessionKeys<Uint8Array> };

let served: Served;
let agent: Awaited<ReturnType<Served["start"]>>;
let isAgents: ReturnType<typeof signedTextVerifier>;
let agentKey: string;
let n = Date.now();

beforeAll(async () => {
  served = await serve();
  ({ publicKey: agentKey } = await openIdentity(stateDir));
  isAgents = signedTextVerifier(agentKey);
  agent = await served.start({ agentId: ID, stateDir, gatewayKey: gateway.publicKey });
});
afterAll(async () => {
  await agent.stop();
  await served.stop();
});

const birth = () =>
  served.peer.raw.findLast(
    ({ id, kind, text }) => id === ID && kind === "presence" && text.includes("birth"),
  );

/** Makes the gateway's half for the agent's present run. */
async function share(bootId = agent.bootId): Promise<Shared> {
  const { session: agentHalf } = JSON.parse((await until(birth)).text) as { session: string };
  const own = await newSessionHalf();
  const gatewayHalf = own.publicKey;
  const parties = { agent: ID, bootId, agentKey, gatewayKey: gateway.publicKey, agentHalf, gatewayHalf };
  const secret = await sessionSecret(own.privateKey, agentHalf, parties);
  if (!secret) throw new Error("no secret");
  const raw = splitSessionKeys(secret);
  return { half: own.publicKey, commands: await importMacKey(raw.commands), raw };
}

function body(payload: Fields, more: Fields & { boot_id?: string; n?: number } = {}) {
  const request_id = served.nextId();
  const { boot_id = agent.bootId, n: number = ++n, ...rest } = more;
  const text = JSON.stringify({ command: "tool", payload, request_id, expires_in_ms: 60_000, ...rest });
  return { request_id, text: stamped(text, { boot_id, n: number }) };
}

function signed(payload: Fields, more?: Parameters<typeof body>[1]): Sent {
  const { request_id, text } = body(payload, more);
  return { request_id, text: gateway.sign(COMMAND, text) };
}

async function sealed(key: Key, payload: Fields, more?: Parameters<typeof body>[1]): Promise<Sent> {
  const { request_id, text } = body(payload, more);
  return { request_id, text: withMac(text, await macOf(key, COMMAND, text)) };
}

const published = (id: string) =>
  served.peer.raw.filter(
    ({ id: from, kind, text }) => from === ID && kind === "reports" && text.includes(`"${id}"`),
  );

/** Sends a command. @returns its report, as published */
async function send({ request_id, text }: Sent): Promise<string> {
  const before = published(request_id).length;
  await served.peer.send(ID, text);
  return (await until(() => published(request_id)[before], { what: `a report of ${request_id}` })).text;
}

/** Begins a session. @returns what the gateway has of it */
async function begin(): Promise<Shared> {
  const shared = await share();
  await send(signed(TOGGLE, { session: shared.half }));
  return shared;
}

const isIn = ({ raw }: Shared, text: string, use: SessionKey = "reports") =>
  new MacKey(use, raw[use]).isOn(REPORT, text);

async function expectRefused(command: Sent): Promise<void> {
  const runs = served.toggle.runs.length;
  const report = await send(command);
  expect(report).toContain("obeys its own gateway alone");
  expect(JSON.parse(report)).not.toHaveProperty("sig");
  expect(JSON.parse(report)).not.toHaveProperty("mac");
  expect(served.toggle.runs).toHaveLength(runs);
}

test("without the gateway's half all reports are signed; with it they carry Home's HMAC and the bridge's", async () => {
  expect(isAgents(REPORT, await send(signed(TOGGLE)))).toBe(true);
  const shared = await share();
  const report = await send(signed(TOGGLE, { session: shared.half }));
  expect(isIn(shared, report)).toBe(true);
  expect(isIn(shared, report, "bridge")).toBe(true);
  expect(JSON.parse(report)).not.toHaveProperty("sig");
  const again = await send(await sealed(shared.commands, TOGGLE));
  expect(JSON.parse(again)).toMatchObject({ payload: { status: "success" } });
  expect(isIn(shared, again)).toBe(true);
  // What the broker retains, and heartbeats, stay signed.
  for (const { kind, text } of served.peer.raw.filter(({ id }) => id === ID))
    if (kind !== "reports" || text.includes('"heartbeat"'))
      expect(isAgents({ agent: ID, kind }, text)).toBe(true);
});

test("a command of the session runs once, however often it arrives", async () => {
  const shared = await begin();
  const runs = served.toggle.runs.length;
  const command = await sealed(shared.commands, TOGGLE);
  await send(command);
  await send(command);
  expect(served.toggle.runs).toHaveLength(runs + 1);
});

describe("is refused, and nothing is run:", () => {
  const refusals: Array<[string, (shared: Shared) => Promise<Sent>]> = [
    [
      "a command by the bridge's key",
      async ({ raw }) => await sealed(await importMacKey(new Uint8Array(raw.bridge)), TOGGLE),
    ],
    [
      "one by the key of reports",
      async ({ raw }) => await sealed(await importMacKey(new Uint8Array(raw.reports)), TOGGLE),
    ],
    ["one of another session", async () => await sealed((await share()).commands, TOGGLE)],
    [
      "one for another run",
      async ({ commands }) => await sealed(commands, TOGGLE, { boot_id: "the boot before" }),
    ],
    [
      "one for another agent",
      async ({ commands }) => {
        const { request_id, text } = body(TOGGLE);
        return { request_id, text: withMac(text, await macOf(commands, { ...COMMAND, agent: "eye" }, text)) };
      },
    ],
    [
      "one that was changed",
      async ({ commands }) => {
        const { request_id, text } = await sealed(commands, { ...TOGGLE, parameters: { value: "a" } });
        return { request_id, text: text.replace('"value":"a"', '"value":"b"') };
      },
    ],
    [
      "one with a shorter HMAC",
      async ({ commands }) => {
        const { request_id, text } = await sealed(commands, TOGGLE);
        return { request_id, text: text.replace(/..."\}$/, '"}') };
      },
    ],
    [
      "one whose HMAC was taken off",
      async ({ commands }) => {
        const { request_id, text } = await sealed(commands, TOGGLE);
        return { request_id, text: splitMac("commands", text)?.body ?? "" };
      },
    ],
  ];
  test.each(refusals)("%s", async (_, make) => {
    await expectRefused(await make(await begin()));
  });

  test("this agent's own report, sent back as a command", async () => {
    const shared = await begin();
    const { request_id, text } = body(TOGGLE);
    const mac = await macOf(await importMacKey(new Uint8Array(shared.raw.reports)), REPORT, text);
    await expectRefused({ request_id, text: withMac(text, mac) });
    const runs = served.toggle.runs.length;
    await served.peer.send(
      ID,
      await send(await sealed(shared.commands, { tool: "counted", parameters: {} })),
    );
    await send(signed({ tool: "counted", parameters: {} }, { session: shared.half }));
    expect(served.toggle.runs).toHaveLength(runs);
  });
});

describe("the gateway's newest signed command decides", () => {
  test("a gateway that was restored brings another half, and the keys before count no more", async () => {
    const before = await begin();
    const after = await begin();
    expect(isIn(after, await send(await sealed(after.commands, TOGGLE)))).toBe(true);
    await expectRefused(await sealed(before.commands, TOGGLE));
  });

  test("one without a half ends the session: reports are signed", async () => {
    const shared = await begin();
    expect(isAgents(REPORT, await send(signed(TOGGLE)))).toBe(true);
    await expectRefused(await sealed(shared.commands, TOGGLE));
  });

  test("an older one that was held back changes nothing, nor does a repetition, nor a stranger's", async () => {
    const older = signed(TOGGLE);
    const otherHalf = signed(TOGGLE, { session: (await share()).half });
    const repeated = signed(TOGGLE);
    await send(repeated);
    const shared = await begin();
    const stranger = new Identity(KeyPair.make());
    const { request_id, text } = body(TOGGLE);
    await expectRefused({ request_id, text: stranger.sign(COMMAND, text) });
    for (const held of [older, otherHalf, repeated]) expect(isIn(shared, await send(held))).toBe(true);
    expect(isIn(shared, await send(await sealed(shared.commands, TOGGLE)))).toBe(true);
  });

  test("a half that is no key makes no session", async () => {
    for (const session of ["A".repeat(43), "short", ""])
      expect(isAgents(REPORT, await send(signed(TOGGLE, { session })))).toBe(true);
  });
});

test("acks ride in a command, and come for many reports at once", async () => {
  const shared = await begin();
  const ids: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    const command = await sealed(shared.commands, TOGGLE);
    await send(command);
    ids.push(command.request_id);
  }
  await send(await sealed(shared.commands, TOGGLE, { acks: ids.slice(0, 1) }));
  const { text } = body({ request_ids: ids.slice(1) }, { command: "ack" });
  await served.peer.send(ID, withMac(text, await macOf(shared.commands, COMMAND, text)));
  // The agent reads in order, so it has the acks when this one is answered.
  await send(await sealed(shared.commands, TOGGLE));
  // At a new connection only what was not acknowledged is sent again, and that signed.
  const before = ids.map((id) => published(id).length);
  served.cut(ID);
  const newestReport = () =>
    served.peer.raw.findLast(
      ({ id, kind, text }) => id === ID && kind === "reports" && text.includes("request_id"),
    )?.text ?? "";
  await until(() => isAgents(REPORT, newestReport()), {
    within: 15_000,
    what: "a signed report is sent again",
  });
  expect(ids.map((id) => published(id).length)).toEqual(before);
});
