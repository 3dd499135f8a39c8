/** What makes a standing permission void: its holder or its device is another one, or its time is over. And how many there may be. */
import { reset, runInDurableObject } from "cloudflare:test";
import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FarHome } from "../../../../test/far-home.ts";
import { device, hosting, reading, reported } from "../../../../test/hosted-device.ts";
import { call, post } from "../../../../test/keyed-home.ts";
import { call as mcpCall } from "../../../../test/mcp-requests.ts";
import { SignIn } from "../../../../test/oauth-sign-in.ts";
import {
  answer,
  command,
  keeping,
  LAMP,
  permissions,
  questions,
  RADIATOR,
} from "../../../../test/permission-home.ts";
import { at, make, T0 } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, TestBridge } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import { permissionsOf } from "./permission-store.ts";

const DAY_MS = 86_400_000;

let bridge: TestBridge;

async function home(): Promise<void> {
  bridge = await hosting([RADIATOR, LAMP]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
}

beforeEach(home);
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

const whys = async () => (await permissions("?ended=yes")).map(({ ended }) => ended?.why ?? "holds");
const heats = (token?: string) => command("radiator", "set", { temperature: 21 }, token ? { token } : {});
const keep = async (id: string, more: object = {}) => {
  const kept = await answer(id, { answer: "approve", keep: { offer: "always", ...more } });
  expect([kept.status, await kept.text()]).toEqual([200, expect.anything()]);
};

/** A row as an owner could have kept it. */
async function put(rows: Array<Partial<StandingPermission>>): Promise<void> {
  await runInDurableObject(theHome(), (instance: Home) => {
    for (const row of rows) {
      const permission: StandingPermission = {
        id: crypto.randomUUID(),
        device: "radiator",
        key: RADIATOR.hosted?.key ?? "",
        version: RADIATOR.hosted?.allow ?? "",
        actions: { set: { temperature: { from: 19, to: 23 } } },
        who: { person: "anna" },
        conversation: null,
        channels: null,
        tainted: false,
        chain: false,
        hours: null,
        until: Date.now() + 30 * DAY_MS,
        by: "anna",
        how: "verified",
        question: null,
        at: Date.now(),
        ...row,
      };
      permissionsOf(instance.access.home).add(permission);
    }
  });
}

describe("its holder", () => {
  test("a connected program: another one asks, and it is over when the program is disconnected", async () => {
    const connect = () =>
      new SignIn((path, init = {}) => ask(path, { token: null, ...init }), "https://gateway").connect(
        TOKENS.owner,
        { command: "yes" },
      );
    const args = { agent_id: "radiator", action: "set", params: { temperature: 21 } };
    const calls = async ({ access_token: token }: { access_token: string }) =>
      (await mcpCall("edge_call", args, { token })).content[0]?.text ?? "";
    const program = await connect();
    expect(await calls(program)).toMatch(/waits for a person/);
    const [question] = await questions();
    expect(question?.offers).toMatchObject([
      { id: "always", who: [{ program: expect.any(String) }], level: "verified" },
    ]);
    await keep(question?.id ?? "", { tainted: true });
    expect(await calls(program)).toContain("done");
    expect(await calls(await connect())).toMatch(/waits for a person/);
    // Neither is it the person's own permission.
    expect(await heats()).toBe("asks");
    const [row] = await permissions();
    const grant = (row?.who as { program: string } | undefined)?.program;
    expect((await call(`/v1/oauth/grants/${grant}`, { method: "DELETE" })).status).toBe(204);
    expect(await whys()).toEqual(["disconnected"]);
  });

  test("another home: it is over when the lending ends", async () => {
    const far = await FarHome.make();
    const terms = { label: "next door", agents: ["radiator"], scopes: ["command"], reads_only: false };
    const made = await post("/v1/lending", { ...terms, expires_in_days: 30 });
    const { invitation, lent } = made.body as unknown as { invitation: string; lent: { id: string } };
    await far.take(invitation);
    const asks = () =>
      far.ask("call", {
        id: crypto.randomUUID(),
        agent: "radiator",
        chain: { steps: 0 },
        action: "set",
        params: { temperature: 21 },
      });
    await asks();
    const [question] = await questions();
    expect(question?.offers).toMatchObject([{ id: "always", who: [{ home: lent.id }], level: "verified" }]);
    await keep(question?.id ?? "", { tainted: true });
    await until(() => bridge.calls().length === 1, { what: "the approved call" });
    await asks();
    await until(() => bridge.calls().length === 2, { what: "the call under the permission" });
    expect(await questions()).toEqual([]);
    expect((await call(`/v1/lending/${lent.id}`, { method: "DELETE" })).status).toBe(204);
    expect(await whys()).toEqual(["returned"]);
  });

  test("a person: it is over when they are gone", async () => {
    const made = await post("/v1/tokens", { name: "olga", role: "member", scopes: ["ask", "command"] });
    const { token, record } = made.body as unknown as { token: string; record: { id: string } };
    expect(await heats(token)).toBe("asks");
    await keep((await questions())[0]?.id ?? "");
    expect(await heats(token)).toBe("ran");
    await ask(`/v1/tokens/${record.id}`, { method: "DELETE" });
    expect(await whys()).toEqual(["left"]);
    // Someone else by the same name later has to ask again.
    const again = await post("/v1/tokens", { name: "olga", role: "member", scopes: ["ask", "command"] });
    expect(await heats((again.body as unknown as { token: string }).token)).toBe("asks");
  });

  test("a person of a chat app: a mistake in CHANNELS ends nothing, and their absence from it does", async () => {
    const chat = { channel: "generic", connection: "door", home: "a", secret: "a-bearer-token-of-the-door" };
    setVariables({ CHANNELS: JSON.stringify([{ ...chat, role_of: { "7": "member" } }]) });
    await put([{ who: { person: "generic:7" } }]);
    expect(await whys()).toEqual(["holds"]);
    setVariables({ CHANNELS: "[{" });
    expect(await whys()).toEqual(["holds"]);
    setVariables({ CHANNELS: JSON.stringify([{ ...chat, role_of: { "8": "member" } }]) });
    expect(await whys()).toEqual(["left"]);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["changed", (id) => call(`/v1/rules/${id}`, { method: "PATCH", body: '{"value": -12}' })],
    ["paused", (id) => call(`/v1/rules/${id}`, { method: "PATCH", body: '{"status": "paused"}' })],
    ["removed", (id) => call(`/v1/rules/${id}`, { method: "DELETE" })],
  ])("a rule: it is over when the rule is %s", async (_, change) => {
    setVariables({ GATEWAY_TOOLS: "rules" });
    bridge = await TestBridge.dial();
    bridge.onStates = () => [reported("freezer", reading("temperature", -18, { unit: "°C" }))];
    await bridge.hello(["devices", "kept", "rules"]);
    await bridge.snapshot([RADIATOR, device("freezer", { line: "temperature" })]);
    const watch = { name: "Too warm", agent_id: "freezer", reading: "temperature", is: "above", value: -15 };
    await say("kitchen", script(make("watch", watch), { text: "ok" }));
    const [rule] = await rowsOf<{ id: string }>(theHome(), "SELECT id FROM rule");
    const who = { rule: rule?.id ?? "", version: 1 };
    await put([{ who }, { who: { ...who, version: 2 } }, { who: { ...who, rule: "w-0000" } }]);
    expect((await whys()).toSorted()).toEqual(["holds", "rule", "rule"]);
    await change(who.rule);
    expect(await whys()).toEqual(["rule", "rule", "rule"]);
  });
});

describe("its device", () => {
  test("is removed", async () => {
    await keeping({ offer: "always" });
    bridge.send({ t: "agent", agent: { ...RADIATOR, online: false } });
    await until(async () => (await call("/v1/devices/radiator", { method: "DELETE" })).status === 204, {
      what: "it is removed",
    });
    expect(await whys()).toEqual(["device_gone"]);
    bridge.send({ t: "agent", agent: RADIATOR });
    await until(async () => (await heats()) === "asks", { what: "it asks again" });
  });

  test("is a paired agent that is paired again; its new name ends nothing", async () => {
    const advert = {
      name: "write",
      description: "Write a text file.",
      parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
      effect: "write" as const,
    };
    const features = ["tool", "cancel", "ack", "question", "gateway", "permissions"];
    bridge.onCall = () => undefined;
    const pair = async (name: string) => {
      const key = await SignedAgent.make("garden");
      await post("/v1/agents/garden/key", { public_key: key.publicKey, name });
      bridge.send({ t: "agent", agent: await key.state({ tools: [advert], features }) });
      await until(async () => (await (await ask("/v1/agents")).text()).includes('"garden"'));
      return key;
    };
    const first = await pair("Garden");
    const { actionVersion } = await import("@edgecall/core/permissions/action-version.ts");
    const bounds = { path: { under: "/home/pi/notes" }, content: { any: "text" as const, max: 64 } };
    const version = await actionVersion(advert);
    await put([{ device: "garden", key: first.publicKey, version, actions: { write: bounds } }]);
    const told = async () => {
      const before = bridge.calls().length;
      await command("garden", "write", { path: "/home/pi/notes/a", content: "milk" });
      const sent = await until(() => bridge.calls()[before], { what: "the command" });
      return (JSON.parse(sent.payload) as { permission?: { id: string } }).permission;
    };
    expect(await told()).toBeDefined();
    await call("/v1/agents/garden", { method: "PATCH", body: '{"name": "Shed"}' });
    expect(await told()).toBeDefined();
    expect((await call("/v1/agents/garden/key", { method: "DELETE" })).status).toBe(204);
    await pair("Garden");
    expect(await told()).toBeUndefined();
    expect(await whys()).toEqual(["paired_again"]);
  });
});

describe("its time", () => {
  test("is 60 days without a use, and 90 days with one each day; on a day in between nobody is asked", async () => {
    at(T0);
    await home();
    await keeping({ offer: "always", who: "everybody" });
    await keeping({ offer: "always", who: "everybody" }, "lamp", { on: true });
    const asked = async () => (await rowsOf(theHome(), "SELECT id FROM question")).length;
    const before = await asked();
    const onDay = async (day: number) => {
      at(T0 + day * DAY_MS);
      await home();
    };
    await onDay(1);
    for (const temperature of [19, 20, 21, 22, 23]) {
      expect(await command("radiator", "set", { temperature })).toBe("ran");
      expect(await command("lamp", "set", { on: temperature % 2 === 0 })).toBe("ran");
      expect(await command("lamp", "set", { brightness_pct: temperature })).toBe("ran");
    }
    expect(await asked()).toBe(before);
    for (const day of [30, 59]) {
      await onDay(day);
      expect(await heats()).toBe("ran");
    }
    await onDay(61);
    expect((await whys()).toSorted()).toEqual(["holds", "unused"]);
    await onDay(89);
    expect(await heats()).toBe("ran");
    await onDay(90);
    expect(await heats()).toBe("asks");
    expect((await whys()).toSorted()).toEqual(["date", "unused"]);
    expect((await permissions("?ended=yes")).map(({ uses }) => uses).toSorted((a, b) => a - b)).toEqual([
      8, 10,
    ]);
  });
});

test("a home holds 200 of them: a yes for more keeps nothing and approves nothing, until one ends", async () => {
  await put(Array.from({ length: 199 }, () => ({})));
  expect((await keeping({ offer: "always" }, "lamp", { on: true })).status).toBe(200);
  const refused = await keeping({ offer: "always" }, "radiator", { temperature: 29 });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("too many")]);
  expect((await questions()).map(({ id }) => id)).toEqual([refused.question.id]);
  expect(await permissions()).toHaveLength(200);
  const [row] = await permissions();
  await call(`/v1/permissions/${row?.id}`, { method: "DELETE" });
  await keep(refused.question.id);
  expect(await permissions()).toHaveLength(200);
});
