/** State topics with open levels, and what a device says of a config that is refused. */
import { describe, expect, test } from "vitest";
import { refusedCommandTopic, refusedStateTopic } from "./mqtt/topics/topics.ts";
import { NOW, newCatalog, OneDevice } from "./testkit/device-cases.ts";

const PREFIXES = { prefix: "homeassistant", ownPrefix: "evoclaw" };

describe("V6: a state topic may have open levels", () => {
  test.each([
    ["+/+/BTtoMQTT/A4C138000001"],
    ["home/+/RTL_433toMQTT/Acurite-Tower/A/1234"],
    ["+/status"],
    ["+/agents/+/x"],
  ])("V6: %s is read, and nothing is sent there", (topic) => {
    expect(refusedStateTopic(topic, "evoclaw")).toBeUndefined();
    expect(refusedCommandTopic(topic, PREFIXES)).toBe("it has a wildcard");
  });

  test.each([
    ["#", "it has the wildcard #; only + for a whole level can be read"],
    ["a/#", "it has the wildcard #; only + for a whole level can be read"],
    ["a/+", "its last level is a wildcard; it has to be exact"],
    ["+", "its last level is a wildcard; it has to be exact"],
    ["a+/b", "it has a + that is not a whole level"],
    ["$SYS/+/load", "topics with $ are the broker's own"],
    ["$share/g/+/b", "topics with $ are the broker's own"],
    ["evoclaw/+/x", "it is one of edgecall's own"],
    ["+/agents/+/reports", "it is one of edgecall's own"],
    ["+/+/+/commands", "it is one of edgecall's own"],
  ])("V6: %s is not read: %s", (topic, why) => {
    expect(refusedStateTopic(topic, "evoclaw")).toBe(why);
  });

  const sensor = {
    stat_t: "+/+/BTtoMQTT/A4C138000001",
    name: "battery",
    dev_cla: "battery",
    unit_of_meas: "%",
    val_tpl: "{{ value_json.batt | is_defined }}",
  };

  test("V6: a sensor of any gateway is read, and counts only what its own topics say", () => {
    const one = new OneDevice().add("sensor", sensor);
    expect(one.catalog.mqtt.topics().has("+/+/BTtoMQTT/A4C138000001")).toBe(true);
    expect(one.words()).toEqual({ battery: "not reported yet" });
    one.say("home/OMG_1/BTtoMQTT/A4C138000002", { batt: 3 });
    one.say("home/OMG_1/BTtoMQTT/more/A4C138000001", { batt: 4 });
    expect(one.words()).toEqual({ battery: "not reported yet" });
    one.say("home/OMG_1/BTtoMQTT/A4C138000001", { batt: 77 });
    expect(one.words()).toEqual({ battery: "77 %" });
    expect(one.device.online).toBe(true);
    one.say("attic/OMG_2/BTtoMQTT/A4C138000001", { batt: 76, rssi: -60 });
    expect(one.words()).toEqual({ battery: "76 %" });
    const { catalog, now } = one;
    expect(catalog.keysOf(catalog.mqtt.partsOn("home/x/BTtoMQTT/A4C138000001"), now)).toEqual([
      one.device.key,
    ]);
  });

  test("V6: its value is there after a restart, and is forgotten with its config", () => {
    const one = new OneDevice().add("sensor", sensor).say("a/b/BTtoMQTT/A4C138000001", { batt: 50 });
    const later = newCatalog();
    later.restore(JSON.parse(JSON.stringify(one.catalog.dump())));
    const config = { unique_id: "sensor", name: null, device: { identifiers: ["thing"], name: "Thing" } };
    later.mqtt.config("homeassistant/sensor/sensor/config", JSON.stringify({ ...config, ...sensor }), NOW);
    expect(later.readings("thing", NOW)[0]).toMatchObject({ value: 50 });
    later.mqtt.config("homeassistant/sensor/sensor/config", "", NOW);
    expect(later.mqtt.topics().has("+/+/BTtoMQTT/A4C138000001")).toBe(false);
    expect(later.dump().states).toEqual([]);
  });

  test("V6: an availability may have open levels too", () => {
    const one = new OneDevice().add("sensor", { ...sensor, availability_topic: "+/+/LWT" });
    one.say("a/b/BTtoMQTT/A4C138000001", { batt: 50 });
    expect(one.device).toMatchObject({ online: false, reason: "it has not said that it is available" });
    one.say("home/OMG_1/LWT", "online");
    expect(one.device.online).toBe(true);
  });

  test("V6: a state topic that the command is sent to, by an open level, confirms nothing", () => {
    const one = new OneDevice().add("switch", { command_topic: "plug/1/set", state_topic: "plug/+/set" });
    expect(one.plan("set", { on: true }).confirm).toBeNull();
  });
});

describe("V6: a config that is refused says so on the device", () => {
  test("V6: of which nothing can be read", () => {
    const one = new OneDevice().add("sensor", { state_topic: "a/#", name: "Bad" });
    const why =
      "nothing is read from its state_topic: it has the wildcard #; only + for a whole level can be read";
    expect(one.device).toMatchObject({
      online: false,
      reason: `nothing of it can be used: Bad: value: ${why}`,
      notOffered: [{ what: "Bad: value", why }],
    });
    expect(one.catalog.read("thing", {}, one.now)).toMatchObject({
      text: expect.stringContaining(`Bad: value: not read: ${why}`),
    });
  });

  test("V6: of which a part can be read", () => {
    const one = new OneDevice()
      .add("sensor", { state_topic: "a/+", name: "Bad" }, "bad")
      .add("sensor", { state_topic: "ok", name: "Good", unit_of_measurement: "W" }, "good")
      .say("ok", "5");
    expect(one.device.online).toBe(true);
    const read = one.catalog.read("thing", {}, one.now);
    expect(read).toEqual({
      text: [
        "Good: 5 W (0 s ago)",
        "Bad: value: not read: nothing is read from its state_topic: its last level is a wildcard; it has to be exact",
      ].join("\n"),
      tainted: false,
    });
  });

  test("V6: its availability", () => {
    const one = new OneDevice().add("switch", {
      command_topic: "c",
      state_topic: "s",
      availability: [{ topic: "x/#" }],
    });
    expect(one.device.notOffered).toEqual([
      {
        what: "switch: availability",
        why: "nothing is read from its topic in availability: it has the wildcard #; only + for a whole level can be read",
      },
    ]);
  });
});
