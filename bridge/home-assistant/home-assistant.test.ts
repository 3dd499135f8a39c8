/** A bridge with Home Assistant beside its broker, without a broker, and as Home Assistant's app. Home Assistant is played on a real socket. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { systemClock } from "@edgecall/node/clock.ts";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { withHomeAssistant } from "../ops/home-assistant.ts";
import { readSettings } from "../settings.ts";
import { PlayedAssistant } from "../testkit/assistant.ts";
import { usePlayedDevices } from "../testkit/devices.ts";
import { HomeAssistantLink } from "./home-assistant-link.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

async function assistantWith(lights: readonly string[], path?: string): Promise<PlayedAssistant> {
  const assistant = await PlayedAssistant.start(lights, path);
  played.after(() => assistant.stop());
  return assistant;
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

test("as Home Assistant's app it signs in by the Supervisor's socket, and calls nothing but what is on its list", async () => {
  const assistant = await assistantWith(["lamp"], "/core/websocket");
  const supervisor = createServer((request, response) => response.writeHead(404).end(request.url));
  await new Promise<void>((resolve) => supervisor.listen(0, "127.0.0.1", resolve));
  played.after(() => supervisor.close());
  const optionsFile = join(mkdtempSync(join(tmpdir(), "app-")), "options.json");
  writeFileSync(optionsFile, JSON.stringify({ gateway_url: "http://127.0.0.1:1", bridge_token: "tok" }));
  const url = `http://127.0.0.1:${(supervisor.address() as AddressInfo).port}`;
  const env = await withHomeAssistant({ SUPERVISOR_TOKEN: assistant.token }, { url, optionsFile });
  const read = readSettings(env);
  const devices = read.ok ? read.settings.devices : undefined;
  if (!devices?.homeAssistant) throw new Error("it has no Home Assistant");
  expect(devices.homeAssistant.url).toBe(`${url.replace("http", "ws")}/core/websocket`);

  const catalog = new DeviceCatalog({
    prefix: "homeassistant",
    ownPrefix: "evoclaw",
    sha256: (text) => text,
  });
  const refused: unknown[] = [];
  const link = new HomeAssistantLink({
    ...devices.homeAssistant,
    // The Supervisor passes its socket on to Home Assistant.
    url: assistant.url,
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
