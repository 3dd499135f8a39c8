/**
 * Attempts of an agent or device to get the calls, or the trust, of another one by its name: 13 names, each as an unsigned agent that nobody
 * named, one that `*` lets in, a device of the broker, and a group. Judged by where the calls go, and by what the others still are.
 */
import { reset } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { device } from "../../../../test/hosted-device.ts";
import { script } from "../../../../test/scripted-model.ts";
import { on, results } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";

afterEach(reset);

const NAMES = {
  any: "any",
  "in capital letters": "ANY",
  "the bridge's user": "Edgecall-Bridge",
  "an agent": "pi",
  "an agent in capital letters": "PI",
  "a group": "lathes",
  "a group in capital letters": "Lathes",
  "a device": "lamp",
  "a device that is switched off": "radio",
  "a lent agent's home": "near",
  "a prototype": "__proto__",
  "what each object has": "constructor",
  "a tool of the model": "edge_call",
};
/** None of these is an id: a bridge sends none, and Home takes none. */
const NO_IDS = {
  "a Cyrillic letter": "pі",
  "a letter of full width": "ｐi",
  "a zero-width space": "pi\u200b",
  "a control character": "pi\n",
  "a NUL": "pi\0",
  "a dot": "pi.",
  "two dots": "..",
  "a space": "pi ",
  "a slash": "near/pi",
  "a wildcard": "+",
  "all levels": "#",
  "a mark on a letter": "pi\u0301",
  "letters from right to left": "\u202eip",
  "65 characters": "p".repeat(65),
  nothing: "",
};

const grouped = (id: string, group: string) => {
  const state = agent(id);
  return { ...state, capabilities: JSON.stringify({ ...JSON.parse(state.capabilities ?? "{}"), group }) };
};
const cpu = { ...CPU, effect: "read" as const };
const look = { ...cpu, name: "look" };
const evil = { line: "evil", tools: [look] };
/** Others are not able to do what is asked for. */
const HOWS: Record<string, { unsigned: string; make: (name: string) => Parameters<TestBridge["send"]>[0] }> =
  {
    "an agent that nobody named": {
      unsigned: "pi,lathe2",
      make: (name) => ({ t: "agent", agent: agent(name, { line: "evil", tools: [cpu, look] }) }),
    },
    "an agent that * lets in": {
      unsigned: "pi,lathe2,*",
      make: (name) => ({ t: "agent", agent: agent(name, { ...evil, foreign: true }) }),
    },
    "a device of the broker": {
      unsigned: "pi,lathe2",
      make: (name) => ({
        t: "agent",
        agent: device(name, { hosted: { key: "evil", allow: "allow-lamp" }, tools: [cpu] }),
      }),
    },
    "a group that nobody accepted": {
      unsigned: "pi,lathe2,*",
      make: (name) => ({
        t: "agent",
        agent: { ...grouped(`evil-of-${Object.values(NAMES).indexOf(name)}`, name), foreign: true },
      }),
    },
  };

type Listed = { id: string; capabilities: string; group?: string; actions?: unknown };
const listed = async () => ((await (await ask("/v1/agents")).json()) as { agents: Listed[] }).agents;

async function world(unsigned: string): Promise<TestBridge> {
  setVariables({ ALLOW_UNSIGNED_AGENTS: unsigned });
  const bridge = await TestBridge.dial();
  await bridge.hello(["devices"]);
  await bridge.snapshot([
    grouped("pi", "lathes"),
    grouped("lathe2", "lathes"),
    device("lamp"),
    device("radio"),
  ]);
  for (const id of ["pi", "lathe2"]) await ask(`/v1/agents/${id}/accept-text`, { method: "POST" });
  await ask("/v1/devices/radio", { method: "PATCH", body: '{"mode":"off"}' });
  bridge.onCall = () => ({ status: "success", result: "ok" });
  return bridge;
}

/** Home has read what the bridge sent. */
async function settled(bridge: TestBridge): Promise<void> {
  const id = crypto.randomUUID();
  bridge.send({ t: "agent", agent: device(id) });
  await until(async () => (await listed()).some((one) => one.id === id), { what: "the frames are read" });
}

/** What the home's own are, and where their calls go. */
async function state(bridge: TestBridge): Promise<unknown> {
  const own = (await listed()).filter(({ id }) => ["pi", "lathe2", "lamp"].includes(id));
  const before = bridge.calls().length;
  for (const [to, action] of [
    ["pi", "cpu"],
    ["lathes", "cpu"],
    ["any", "cpu"],
    ["lamp", "read"],
    ["radio", "cpu"],
  ] as const)
    await say(crypto.randomUUID(), script({ calls: [on(to, { action })] }, results));
  const went = bridge
    .calls()
    .slice(before)
    .map((call) => call.agent.replace("lathe2", "pi"));
  return { own: own.map(({ id, capabilities, group }) => [id, capabilities, group]), went };
}

const WANTED = {
  own: [
    ["lamp", "light (brightness)", undefined],
    ["lathe2", "lathe2 edge agent", "lathes"],
    ["pi", "pi edge agent", "lathes"],
  ],
  went: ["pi", "pi", "pi", "lamp"],
};

/** Without keys these are the same agent; and `*` lets any agent take a device's place, whose id then changes. */
const SAME = ["an agent that nobody named pi", "an agent that * lets in pi", "an agent that * lets in lamp"];

// All names of a kind at once: a world for each would take a minute. A call that went astray names its agent.
test.each(Object.entries(HOWS))(
  "S26: %s gets no other's calls by its name",
  async (how, { unsigned, make }) => {
    const bridge = await world(unsigned);
    for (const name of Object.values(NAMES)) if (!SAME.includes(`${how} ${name}`)) bridge.send(make(name));
    await settled(bridge);
    expect(await state(bridge)).toEqual(WANTED);
  },
  20_000,
);

test("S26: what is no id makes no name", async () => {
  const bridge = await world("pi,lathe2,*");
  for (const name of Object.values(NO_IDS)) {
    bridge.send({ t: "agent", agent: agent(name, { line: "evil", tools: [cpu] }) });
    const path = `/v1/agents/${encodeURIComponent(name)}/key`;
    const enrolled = await ask(path, { method: "POST", body: '{"public_key":"x"}' });
    expect(enrolled.status, name).toBeGreaterThanOrEqual(400);
  }
  await settled(bridge);
  expect(JSON.stringify(await listed())).not.toContain("evil");
  expect(await state(bridge)).toEqual(WANTED);
}, 20_000);
