/** Names that mean many agents, or the home's own parts, are no agent's: at every door by which an id comes in. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { script } from "../../../../test/scripted-model.ts";
import { testVars } from "../../../../test/tokens.ts";
import { on, results } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, say, TestBridge } from "../../../../test/workerd.ts";
import { readSettings } from "../../settings/settings.ts";

afterEach(reset);

const NAMES = ["any", "bridge", "broadcast", "all", "edgecall-bridge", "Any", "BRIDGE", "BroadCast"];
const RIGHT =
  "expected another name: all, any, bridge, broadcast, edgecall-bridge are reserved, as in an id like pi-any";

let key: string;
beforeEach(async () => {
  key = (await newKeyPair()).publicKey;
});

async function send(path: string, body: object, token?: null) {
  const response = await ask(path, {
    method: "POST",
    body: JSON.stringify(body),
    ...(token === null && { token }),
  });
  const answer = (await response.json()) as { code?: string; error?: { code: string; message: string } };
  return { status: response.status, ...answer };
}
const newCode = async () => (await send("/v1/device-codes", {})).code;
const pair = async (agent_id: string) =>
  await send("/pair", { code: await newCode(), agent_id, public_key: key }, null);
const enroll = (id: string) => send(`/v1/agents/${id}/key`, { public_key: key });
const listed = async () => {
  const { agents } = (await (await ask("/v1/agents")).json()) as {
    agents: Array<{ id: string; problem?: string }>;
  };
  return agents;
};
const ids = async () => (await listed()).map(({ id }) => id);

/** An agent of a group that its owner has accepted. */
const inGroup = (id: string, group: string) => {
  const state = agent(id);
  return { ...state, capabilities: JSON.stringify({ ...JSON.parse(state.capabilities ?? "{}"), group }) };
};

describe("S26: a reserved name", () => {
  test.each(NAMES)("S26: %s is refused with a code, at pairing, and with a key", async (name) => {
    expect(await send("/v1/device-codes", { agent: name })).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining("agent") },
    });
    expect(await pair(name)).toMatchObject({ status: 400, error: { message: `agent_id: ${RIGHT}` } });
    expect(await enroll(name)).toMatchObject({ status: 400, error: { message: `agent: ${RIGHT}` } });
  });

  test.each(NAMES)("S26: %s is no unsigned agent's, by name or by *", async (name) => {
    expect(() => readSettings({ ...env, ...testVars, ALLOW_UNSIGNED_AGENTS: `pi ${name}` })).toThrow(
      `ALLOW_UNSIGNED_AGENTS: ${RIGHT}, got '${name}'`,
    );
    await TestBridge.connect([agent(name), agent("pi")]);
    expect(await ids()).toEqual(["pi"]);
  });

  test.each(NAMES)("S26: %s is no hosted device's, and no lent agents' home's", async (name) => {
    await hosting([device(name), device("lamp")]);
    expect(await ids()).toEqual(["lamp"]);
    const borrowed = await send("/v1/borrowing", { invitation: "x", name: name.toLowerCase() });
    expect(borrowed).toMatchObject({ status: 400, error: { message: `name: ${RIGHT}` } });
    const lent = await send("/v1/lending", {
      label: "them",
      agents: [name],
      scopes: ["query"],
      reads_only: true,
      expires_in_days: 1,
    });
    expect(lent).toMatchObject({ status: 400, error: { message: expect.stringContaining(RIGHT) } });
  });

  test("S26: a call to any goes to no agent of that name, and a group has no such name", async () => {
    const bridge = await TestBridge.connect([inGroup("pi", "any"), agent("any")]);
    expect((await listed())[0]?.problem).toBe(`group: ${RIGHT}`);
    void say("a", script({ calls: [on("any", { action: "cpu" })] }, results));
    const call = await until(() => bridge.calls()[0], { what: "the call" });
    expect(call.agent).toBe("pi");
  });
});

describe("S26: the name of a group", () => {
  test("S26: is refused to an agent that comes after it, with a key, a code, or without one", async () => {
    const bridge = await TestBridge.connect([inGroup("pi", "lathes")]);
    expect(await pair("lathes")).toMatchObject({
      status: 409,
      error: { message: "agent_id: this is the name of a group of agents; choose another with --name" },
    });
    expect(await enroll("lathes")).toMatchObject({
      status: 409,
      error: { message: "agent: this is the name of a group of agents; another id would be right" },
    });
    bridge.send({ t: "agents", agents: [agent("lathes"), agent("nas")] });
    await until(async () => (await ids()).includes("nas"), { what: "the others are there" });
    expect(await ids()).toEqual(["nas", "pi"]);
    void say("a", script({ calls: [on("lathes", { action: "cpu" })] }, results));
    const call = await until(() => bridge.calls()[0], { what: "the call" });
    expect(call.agent).toBe("pi");
  });

  test("S26: is none where an agent had it first: its calls go to the agent, and the list says why", async () => {
    const bridge = await TestBridge.connect([agent("nas")]);
    bridge.send({ t: "agents", agents: [inGroup("pi", "nas")] });
    await until(async () => (await ids()).includes("pi"), { what: "the agent of the group" });
    const pi = (await listed()).find(({ id }) => id === "pi");
    expect(pi?.problem).toBe("group: 'nas' is the id of an agent here; another name would be right");
    void say("a", script({ calls: [on("nas", { action: "cpu" })] }, results));
    const call = await until(() => bridge.calls()[0], { what: "the call" });
    expect(call.agent).toBe("nas");
  });

  test("S26: a hosted device that comes after the group has not its name", async () => {
    const bridge = await hosting([inGroup("pi", "lamps")]);
    bridge.send({ t: "agents", agents: [device("lamps"), device("radio")] });
    await until(async () => (await ids()).includes("radio"), { what: "the other device" });
    expect(await ids()).toEqual(["pi", "radio"]);
  });
});
