/** Forms in which publishers describe their devices, on a real broker, with a WebSocket server that plays Home. */
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();

/** The text of a read. */
async function read(agent: string): Promise<string> {
  const { result } = await hosted.report(hosted.call(agent, "read"));
  return String(result);
}

test("V6: a sensor that any gateway may hear is subscribed to by its filter, and read", async () => {
  await hosted.started();
  await hosted.publisher.config("sensor/A4C138000001-batt", {
    stat_t: "+/+/BTtoMQTT/A4C138000001",
    name: "Detector battery",
    uniq_id: "A4C138000001-batt",
    dev_cla: "battery",
    val_tpl: "{{ value_json.batt | is_defined }}",
    unit_of_meas: "%",
    device: { identifiers: ["A4C138000001"], name: "Detector" },
  });
  await hosted.agentIn("detector");
  const say = () => hosted.publisher.say("home/OMG_GAT/BTtoMQTT/A4C138000001", { batt: 77, rssi: -60 });
  await say();
  await until(async () => (await read("detector")).includes("77 %"), { what: "it is read" });
  expect(await read("detector")).toMatch(/^Detector battery: 77 % \(/);
});

test("V10: a config of 250 KB and a state of 300 KB cross the broker, and the bridge answers meanwhile", async () => {
  await hosted.started();
  const cmps = Object.fromEntries(
    Array.from({ length: 192 }, (_, at) => [
      `node_${at}`,
      {
        p: "sensor",
        name: `Node ${at}`,
        unique_id: `field_${at}`,
        state_topic: "field/state",
        unit_of_measurement: "V",
        value_template: `{{ value_json.node_${at} }}`,
        icon: `mdi:${"x".repeat(1_100)}`,
      },
    ]),
  );
  const config = { dev: { ids: ["field"], name: "Solar field" }, o: { name: "taptap" }, cmps };
  expect(JSON.stringify(config).length).toBeGreaterThan(240_000);
  await hosted.publisher.config("device/field", config);
  await hosted.agentIn("solar-field");
  const nodes = Object.fromEntries(Array.from({ length: 192 }, (_, at) => [`node_${at}`, at]));
  await hosted.publisher.say("field/state", { settings: "x".repeat(300_000), ...nodes });
  await until(async () => (await read("solar-field")).includes("Node 191: 191 V"), { what: "it is read" });
  expect((await read("solar-field")).split("\n")).toHaveLength(192);
  expect(hosted.told().get("solar-field")?.hosted?.not_offered).toBeUndefined();
});

test("V9: a setting crosses to Home as one, and is changed when Home asks for it", async () => {
  const { publisher } = hosted;
  await hosted.started();
  await publisher.on("go-e/ama/set", (value) => publisher.say("go-e/ama", value));
  await publisher.config("number/go-e/ama", {
    name: "Set Max Ampere Limit",
    "~": "go-e/ama",
    stat_t: "~",
    cmd_t: "~/set",
    unit_of_meas: "A",
    ent_cat: "config",
    min: 6,
    max: 16,
    uniq_id: "go-e_ama",
    dev: { ids: ["go-e"], name: "go-eCharger" },
  });
  await hosted.agentIn("go-echarger");
  const { tools, hosted: told } = hosted.told().get("go-echarger") ?? {};
  expect((JSON.parse(tools ?? "") as { tools: object[] }).tools).toMatchObject([
    { name: "read" },
    { name: "set", setting: true, danger: true, danger_why: "it is a setting of the device" },
  ]);
  const call = hosted.call("go-echarger", "set", { value: 10 }, { allow: told?.allow });
  expect(await hosted.report(call)).toMatchObject({ status: "success", confirmed: true });
});

test("V17: a Tasmota plug that describes itself in its own way is switched, and read afresh", async () => {
  const { publisher } = hosted;
  const config = {
    dn: "Desk",
    fn: ["Desk"],
    mac: "A0B1C2D3E4F5",
    t: "desk",
    ft: "%prefix%/%topic%/",
    tp: ["cmnd", "stat", "tele"],
    rl: [1],
    ver: 1,
  };
  const example = { sn: { Time: "x", ENERGY: { Power: 1 } }, ver: 1 };
  await publisher.say("tele/desk/LWT", "Online", true);
  await publisher.say("tasmota/discovery/A0B1C2D3E4F5/sensors", example, true);
  await publisher.say("tasmota/discovery/A0B1C2D3E4F5/config", config, true);
  await publisher.on("cmnd/desk/POWER1", (POWER) => publisher.say("stat/desk/RESULT", { POWER }));
  await publisher.on("cmnd/desk/STATUS", () =>
    publisher.say("stat/desk/STATUS10", { StatusSNS: { ENERGY: { Power: 42 } } }),
  );
  await hosted.started();
  const { hosted: told } = await hosted.agentIn("desk");
  const call = hosted.call("desk", "set", { on: true }, { allow: told?.allow });
  expect(await hosted.report(call)).toMatchObject({ status: "success", confirmed: true });
  expect(publisher.commands).toContainEqual({ topic: "cmnd/desk/POWER1", payload: "ON" });
  const { result } = await hosted.report(hosted.call("desk", "read", { fresh: true }));
  expect(result).toMatch(/^switch: on \(.*\nENERGY Power: 42 W \(/);
});
