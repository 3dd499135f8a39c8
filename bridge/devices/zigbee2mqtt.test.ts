/** Devices of a played Zigbee2MQTT: its errors are quoted within the call, and devices with mains power are asked for their values. */
import { beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

const PLUG = { address: "0x0017880100000101", name: "Coffee plug", power: "Mains (single phase)" };
const BUTTON = { address: "0x00158d0001dc126a", name: "Door switch", power: "Battery" };
/** As Zigbee2MQTT logs it when a device does not answer. */
const NO_ANSWER = `Publish 'set' 'state' to 'Door switch' failed: 'Error: ZCL command ${BUTTON.address}/1 genOnOff.on({}, {"timeout":10000}) failed (no answer from the device)'`;

beforeEach(async () => {
  const { publisher } = hosted;
  await publisher.say("zigbee2mqtt/bridge/state", { state: "online" }, true);
  const exposes = [{ type: "switch", features: [{ property: "state", access: 7 }] }];
  const list = [PLUG, BUTTON].map(({ address, name, power }) => ({
    ieee_address: address,
    friendly_name: name,
    power_source: power,
    definition: { exposes },
  }));
  await publisher.say("zigbee2mqtt/bridge/devices", JSON.stringify(list), true);
  for (const { address, name } of [PLUG, BUTTON]) {
    await publisher.say(`zigbee2mqtt/${name}/availability`, { state: "online" }, true);
    for (const verb of ["set", "get"]) await publisher.on(`zigbee2mqtt/${name}/${verb}`, () => {});
    await publisher.config(`switch/${address}/switch`, {
      name: null,
      unique_id: `${address}_switch`,
      state_topic: `zigbee2mqtt/${name}`,
      command_topic: `zigbee2mqtt/${name}/set`,
      value_template: "{{ value_json.state }}",
      availability: ["zigbee2mqtt/bridge/state", `zigbee2mqtt/${name}/availability`].map((topic) => ({
        topic,
        value_template: "{{ value_json.state }}",
      })),
      availability_mode: "all",
      device: { identifiers: [`zigbee2mqtt_${address}`], name },
      origin: { name: "Zigbee2MQTT", sw: "2.14.1" },
    });
  }
});

const sent = (topic: string) => hosted.publisher.commands.filter((command) => command.topic === topic);

test("its error about this device ends the wait and is quoted; one about another device does not", async () => {
  await hosted.started();
  await hosted.agentIn("door-switch");
  const id = hosted.call("door-switch", "set", { on: true });
  await until(() => sent("zigbee2mqtt/Door switch/set").length > 0);
  const log = (message: string) =>
    hosted.publisher.say("zigbee2mqtt/bridge/logging", { level: "error", message });
  await log(NO_ANSWER.replace("Door switch", "Coffee plug"));
  await log(NO_ANSWER);
  const report = await hosted.report(id);
  expect(report).toMatchObject({ status: "error", error_type: "outcome_unknown", tainted: true });
  expect(report.error).toMatch(/^Error: Sent to Door switch; .*Zigbee2MQTT: "no answer from the device"/);
  // Its own time would be 15 s.
  expect(report.elapsed_ms).toBeLessThan(14_000);
});

test("devices that were not heard since the start are asked, those on a battery are not", async () => {
  await hosted.started();
  await hosted.agentIn("coffee-plug");
  await until(() => sent("zigbee2mqtt/Coffee plug/get").length > 0);
  expect(sent("zigbee2mqtt/Coffee plug/get")).toEqual([
    { topic: "zigbee2mqtt/Coffee plug/get", payload: '{"state":""}' },
  ]);
  await hosted.publisher.say("zigbee2mqtt/Coffee plug", { state: "ON" });
  const read = () => hosted.report(hosted.call("coffee-plug", "read"));
  await until(async () => /\bon\b/.test(String((await read()).result)));
  expect(sent("zigbee2mqtt/Door switch/get")).toEqual([]);
});

test("a read asks when nothing is known, or when a fresh value is wanted", async () => {
  await hosted.started();
  const { tools } = await hosted.agentIn("coffee-plug");
  expect(tools).toContain('"fresh"');
  expect(hosted.told().get("door-switch")?.tools).not.toContain('"fresh"');
  await until(() => sent("zigbee2mqtt/Coffee plug/get").length === 1);
  const first = hosted.call("coffee-plug", "read");
  await until(() => sent("zigbee2mqtt/Coffee plug/get").length === 2);
  await hosted.publisher.say("zigbee2mqtt/Coffee plug", { state: "ON" });
  expect((await hosted.report(first)).result).toMatch(/: on \(/);
  // Now it is known.
  expect((await hosted.report(hosted.call("coffee-plug", "read"))).result).toMatch(/: on \(/);
  expect(sent("zigbee2mqtt/Coffee plug/get")).toHaveLength(2);
  const fresh = hosted.call("coffee-plug", "read", { fresh: true });
  await until(() => sent("zigbee2mqtt/Coffee plug/get").length === 3);
  await hosted.publisher.say("zigbee2mqtt/Coffee plug", { state: "OFF" });
  expect((await hosted.report(fresh)).result).toMatch(/: off \(/);
  expect(await hosted.report(hosted.call("coffee-plug", "read", { fresh: 1 }))).toMatchObject({
    error_type: "invalid_params",
    error: expect.stringMatching(/^Error: fresh: /),
  });
});

test("when half of the time is over, the device is asked whether it did it", async () => {
  await hosted.started();
  await hosted.agentIn("coffee-plug");
  await until(() => sent("zigbee2mqtt/Coffee plug/get").length === 1);
  const id = hosted.call("coffee-plug", "set", { on: true });
  await until(() => sent("zigbee2mqtt/Coffee plug/get").length === 2);
  await hosted.publisher.say("zigbee2mqtt/Coffee plug", { state: "ON" });
  expect(await hosted.report(id)).toMatchObject({ confirmed: true });
  expect(sent("zigbee2mqtt/Coffee plug/set")).toHaveLength(1);
  expect(played.log("bridge.internal_error")).toBeUndefined();
});
