/** A bridge with Home Assistant beside its broker, without a broker, and as Home Assistant's app. Home Assistant is played on a real socket. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantAnswer, AssistantQuestion } from "@edgecall/core/protocol/assistant.ts";
import type { WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { systemClock } from "@edgecall/node/clock.ts";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { offerMcp, withHomeAssistant } from "../ops/home-assistant.ts";
import { readSettings } from "../settings.ts";
import { PlayedAssistant } from "../testkit/assistant.ts";
import { usePlayedDevices } from "../testkit/devices.ts";
import { PlayedSupervisor } from "../testkit/supervisor.ts";
import { HomeAssistantLink } from "./home-assistant-link.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

async function assistantWith(lights: readonly string[]): Promise<PlayedAssistant> {
  const assistant = await PlayedAssistant.start(lights);
  played.after(() => assistant.stop());
  return assistant;
}

/** Asks the bridge as Home does. */
async function ask(question: AssistantQuestion): Promise<AssistantAnswer> {
  const id = randomUUID();
  played.home.send({ t: "assistant", id, question });
  return (await played.home.next("assistant", (frame) => frame.id === id)).answer;
}

/** Signs a browser in. @returns what Home is told then */
async function signedIn({ page }: PlayedAssistant): Promise<AssistantAnswer> {
  const client = "https://gate.example/";
  const state = randomUUID();
  const { authorize = "" } = await ask({ begin: { url: page, client, redirect: client, state } });
  const { headers } = await fetch(authorize, { redirect: "manual" });
  const back = new URL(headers.get("location") ?? "").searchParams;
  expect(back.get("state")).toBe(state);
  return await ask({ finish: { state, code: back.get("code") ?? "" } });
}

const settingsOf = ({ url, token }: PlayedAssistant, mode: "read" | "allow" = "allow") => ({
  url,
  mode,
  token: () => token,
});

test("devices of both sources are agents, each with the mode of its source", async () => {
  const assistant = await assistantWith(["lamp"]);
  await hosted.publisher.plug("a");
  await hosted.started({ homeAssistant: settingsOf(assistant, "read") });
  expect((await hosted.agentIn("plug-a")).hosted).toMatchObject({ mode: "allow" });
  expect((await hosted.agentIn("lamp")).hosted).toMatchObject({ mode: "read" });
});

test("devices of the broker may be off: they are no agents, and those of Home Assistant are", async () => {
  const assistant = await assistantWith(["lamp"]);
  await hosted.publisher.plug("a");
  await hosted.started({ mode: "off", homeAssistant: settingsOf(assistant) });
  await hosted.agentIn("lamp");
  expect([...hosted.told().keys()]).toEqual(["lamp"]);
});

test("without a broker it is ready by Home Assistant alone, and a call is carried out", async () => {
  const assistant = await assistantWith(["lamp"]);
  const bridge = played.start({
    mqttUrl: undefined,
    devices: {
      mode: "off",
      prefix: "homeassistant",
      birth: false,
      dangerText: [],
      signIn: "allow",
      folder: hosted.folder,
      historyDays: undefined,
      homeAssistant: settingsOf(assistant),
    },
  });
  await hosted.agentIn("lamp");
  expect(bridge.ready()).toBe(true);
  expect(bridge.links()).toMatchObject({ broker: undefined, homeAssistant: true });
  expect(bridge.conditions()).toEqual([]);
  const report = await hosted.report(hosted.call("lamp", "set", { on: true }));
  expect(report).toMatchObject({ status: "success", confirmed: true });
  expect(assistant.calls).toEqual([
    { domain: "light", service: "turn_on", target: { entity_id: "light.lamp" } },
  ]);
  assistant.drop();
  await hosted.agentIn("lamp", false);
  await hosted.agentIn("lamp");
});

test("a rule on a device of Home Assistant fires and ends while the broker is away", async () => {
  played.home.rules = true;
  const assistant = await assistantWith(["lamp"]);
  await hosted.started({ homeAssistant: settingsOf(assistant) });
  const { hosted: of } = await hosted.agentIn("lamp");
  played.home.send({ t: "states", id: "q", agents: ["lamp"] });
  const { devices } = await played.home.next("states");
  const reading = devices[0]?.readings.find(({ value }) => value === false)?.name ?? "";
  const condition: WatchCondition = {
    id: "w-0001",
    version: 1,
    reading,
    type: "boolean",
    is: "equal",
    value: true,
    hysteresis: 0,
    hold_ms: 0,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
  };
  played.home.send({ t: "rules", set: [{ condition, device: of?.key ?? "" }], drop: [] });
  const change = async (seq: number) => {
    const all = () => played.home.of("changes").flatMap(({ changes }) => changes);
    const found = await until(() => all().find((one) => one.seq === seq), { what: `change ${seq}` });
    played.home.send({ t: "changed", upto: { [found.rule]: seq } });
    return found.state;
  };
  await played.broker.stop();
  await until(() => played.log("broker.down"));
  assistant.say("lamp", "on");
  expect(await change(1)).toBe("firing");
  assistant.say("lamp", "off");
  expect(await change(2)).toBe("idle");
});

test("what an integration without push writes is done when it was not taken back for 3 s", async () => {
  const assistant = await assistantWith(["cloud_lamp", "cloud_liar"]);
  assistant.reverts.set("cloud_liar", 2_000);
  await hosted.started({ homeAssistant: settingsOf(assistant) });
  await hosted.agentIn("cloud-liar");
  const began = performance.now();
  const more = { expires_in_ms: 5_000 };
  const calls = ["cloud-lamp", "cloud-liar"].map((id) => hosted.call(id, "set", { on: true }, more));
  const [lamp, liar] = await Promise.all(calls.map((id) => hosted.report(id)));
  expect(lamp).toMatchObject({ status: "success", confirmed: true });
  expect(performance.now() - began).toBeGreaterThan(3_000);
  expect(liar).toMatchObject({ error_type: "outcome_unknown", confirmed: false });
}, 15_000);

test("what one with push takes back after it was told as done is told once more", async () => {
  const assistant = await assistantWith(["liar"]);
  assistant.reverts.set("liar", 500);
  await hosted.started({ homeAssistant: settingsOf(assistant) });
  await hosted.agentIn("liar");
  const id = hosted.call("liar", "set", { on: true });
  expect(await hosted.report(id)).toMatchObject({ status: "success", confirmed: true });
  const { payload } = await played.home.next("report", ({ payload }) => payload.includes("corrects"));
  expect(JSON.parse(payload)).toMatchObject({
    payload: { request_id: id, confirmed: false, error: expect.stringContaining("It reports: off") },
  });
});

test("an entity that is removed while the registries are read gets no call, though the lists still have it", async () => {
  const assistant = await assistantWith(["lamp", "other"]);
  await hosted.started({ homeAssistant: settingsOf(assistant) });
  await hosted.agentIn("other");
  const first = assistant.hold("config/device_registry/list");
  assistant.registered("lamp", "update");
  await first.asked;
  const next = assistant.hold("config/entity_registry/list");
  assistant.remove("other");
  first.release();
  await next.asked;
  expect(await hosted.report(hosted.call("other", "set", { on: true }))).toMatchObject({
    error: expect.stringContaining("no more"),
  });
  expect(assistant.calls).toEqual([]);
  next.release();
  await until(() => !hosted.told().has("other"), { what: "it is gone" });
});

test("a person's browser signs in there: the bridge keeps what it got over a restart, and says when it was revoked", async () => {
  const assistant = await assistantWith(["lamp"]);
  const first = await hosted.started();
  expect(await ask({})).toEqual({ state: null });
  const connected = { url: assistant.page, by: "sign_in", up: true, user: "bridge", admin: false };
  expect((await signedIn(assistant)).state).toMatchObject(connected);
  await hosted.agentIn("lamp");
  expect(await hosted.report(hosted.call("lamp", "set", { on: true }))).toMatchObject({ confirmed: true });
  await first.stop();

  played.home.frames.length = 0;
  const second = await hosted.started();
  await hosted.agentIn("lamp");
  expect((await ask({})).state).toMatchObject({ ...connected, shown: 1 });
  assistant.grants.clear();
  assistant.drop();
  await until(() => second.conditions().some(({ code }) => code === "home_assistant_refuses"));
  expect((await ask({})).state).toMatchObject({
    up: false,
    problem: expect.stringContaining("Sign in again"),
  });
  expect(await ask({ forget: true })).toEqual({ state: null });
  await until(() => !hosted.told().has("lamp"), { what: "the lamp is gone" });
  expect(second.conditions()).toEqual([]);
});

test("a bridge without broker and Home Assistant waits for a sign-in; another one replaces the first, which hears that its grant ended", async () => {
  const [one, other] = [await assistantWith(["lamp"]), await assistantWith(["desk_lamp"])];
  const devices = {
    mode: "off",
    prefix: "homeassistant",
    birth: false,
    dangerText: [],
    signIn: "read",
    historyDays: undefined,
  } as const;
  const bridge = played.start({ mqttUrl: undefined, devices: { ...devices, folder: hosted.folder } });
  await until(() => bridge.ready());
  expect((await signedIn(one)).state).toMatchObject({ url: one.page, up: true });
  expect((await hosted.agentIn("lamp")).hosted).toMatchObject({ mode: "read" });
  expect((await signedIn(other)).state).toMatchObject({ url: other.page, up: true });
  await hosted.agentIn("desk-lamp");
  await until(() => !hosted.told().has("lamp"), { what: "the first one's lamp is gone" });
  await until(() => one.grants.size === 0, { what: "the first one is told" });
  expect(other.grants.size).toBe(1);
});

test("one that the settings name is not replaced by a sign-in", async () => {
  const assistant = await assistantWith(["lamp"]);
  await hosted.started({ homeAssistant: settingsOf(assistant) });
  await hosted.agentIn("lamp");
  const begin = { url: assistant.page, client: "https://g/", redirect: "https://g/", state: randomUUID() };
  expect(await ask({ begin })).toMatchObject({
    state: { by: "settings", url: assistant.page, up: true },
    error: expect.stringContaining("HA_URL"),
  });
});

/** The settings of a bridge that is Home Assistant's app. */
async function asApp(assistant: PlayedAssistant) {
  const supervisor = await PlayedSupervisor.start(assistant);
  played.after(() => supervisor.stop());
  const folder = mkdtempSync(join(tmpdir(), "app-"));
  mkdirSync(join(folder, "bridge"));
  const optionsFile = join(folder, "options.json");
  const { GATEWAY_URL: gateway_url, BRIDGE_TOKEN: bridge_token } = played.environment();
  writeFileSync(optionsFile, JSON.stringify({ gateway_url, bridge_token }));
  const given = { SUPERVISOR_TOKEN: supervisor.token, HEALTH_PORT: "0" };
  const env = await withHomeAssistant(given, { url: supervisor.url, optionsFile });
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.errors.join("; "));
  const { homeAssistant } = read.settings.devices ?? {};
  if (!homeAssistant) throw new Error("it has no Home Assistant");
  return { supervisor, env, settings: read.settings, homeAssistant };
}

test("as Home Assistant's app it has its devices with nothing to paste and without a broker, and shows the card of its gateway", async () => {
  const assistant = await assistantWith(["lamp"]);
  const { supervisor, env, settings, homeAssistant } = await asApp(assistant);
  expect(homeAssistant.url).toBe(`${supervisor.url.replace("http", "ws")}/core/websocket`);
  const bridge = played.start(settings);
  await hosted.agentIn("lamp");
  expect(bridge.links()).toMatchObject({ broker: undefined, homeAssistant: true });
  expect(await hosted.report(hosted.call("lamp", "set", { on: true }))).toMatchObject({ confirmed: true });
  expect(await offerMcp(env, supervisor)).toBeUndefined();
  const { origin } = new URL(env.GATEWAY_URL ?? "");
  expect(supervisor.discovered).toEqual([{ service: "mcp", config: { url: `${origin}/mcp` } }]);
  // A sign-in in the console replaces nothing.
  const begin = { url: assistant.page, client: "https://g/", redirect: "https://g/", state: randomUUID() };
  expect(await ask({ begin })).toMatchObject({ state: { by: "settings", up: true, admin: true } });
});

test("as Home Assistant's app, where the token is an administrator's, it calls nothing but what is on its list", async () => {
  const assistant = await assistantWith(["lamp"]);
  const { homeAssistant } = await asApp(assistant);
  const catalog = new DeviceCatalog({
    prefix: "homeassistant",
    ownPrefix: "evoclaw",
    sha256: (text) => text,
  });
  const refused: unknown[] = [];
  const link = new HomeAssistantLink({
    ...homeAssistant,
    log: (_, event, fields) => event.endsWith("service_refused") && refused.push(fields?.service),
    clock: systemClock,
    catalog,
    onUp: () => {},
    onLost: () => {},
    onDevices: () => {},
    onStates: () => {},
  });
  link.start();
  played.after(() => link.stop());
  await until(() => catalog.devices(Date.now()).some(({ online }) => online), { what: "the lamp is there" });
  const [entity = ""] = [...catalog.homeAssistant.parts(() => {})].map(({ entity }) =>
    entity.unique.replace(/^ha /, ""),
  );
  const never = [
    "homeassistant.restart",
    "homeassistant.turn_off",
    "hassio.host_reboot",
    "shell_command.any",
    "python_script.any",
    "mqtt.publish",
    "script.reload",
    "automation.trigger",
    "recorder.purge",
    "group.set",
    "scene.apply",
    "camera.snapshot",
    "light.toggle",
  ];
  for (const one of never) {
    const [domain = "", service = ""] = one.split(".");
    const called = await link.call({ domain, service, data: {}, entity }, 1_000);
    expect(called, one).toMatchObject({ kind: "refused" });
  }
  expect(refused).toEqual(never);
  expect(assistant.calls).toEqual([]);
  expect(await link.call({ domain: "light", service: "turn_on", data: {}, entity }, 1_000)).toEqual({
    kind: "sent",
  });
  expect(assistant.calls).toHaveLength(1);
});
