/** O11: the clock of the bridge's machine is set. */
import { describe, expect, test } from "vitest";
import { OneDevice } from "./testkit/device-cases.ts";

const HOUR = 3_600_000;

describe.each([
  ["3 h ahead", 3 * HOUR],
  ["3 h back", -3 * HOUR],
  ["1 year ahead", 365 * 24 * HOUR],
  ["1 year back", -365 * 24 * HOUR],
])("O11: a clock that is set %s", (_, by) => {
  test("makes no value older or younger, and no device silent before its time", () => {
    const sensor = new OneDevice().add("sensor", { state_topic: "s", expire_after: 60 });
    sensor.say("s", "7").after(40_000);
    sensor.catalog.clockSet(by);
    sensor.after(by);
    expect(sensor.device).toMatchObject({ online: true, lastSeen: sensor.now - 40_000 });
    expect(sensor.catalog.read("thing", {}, sensor.now)).toMatchObject({
      text: expect.stringContaining("7 (40 s ago)"),
    });
    sensor.after(20_000);
    expect(sensor.device.online).toBe(true);
    sensor.after(1);
    expect(sensor.device.online).toBe(false);
  });

  test("makes no device that was never heard a ghost", () => {
    const sensor = new OneDevice().add("sensor", { state_topic: "s" });
    expect(sensor.device.ghost).toBe(false);
    sensor.catalog.clockSet(by);
    sensor.after(by);
    expect(sensor.device.ghost).toBe(false);
  });

  test("leaves the times that the file of an earlier run has", () => {
    const before = new OneDevice().add("sensor", { state_topic: "s" });
    before.say("s", "7");
    const at = before.now;
    const sensor = new OneDevice();
    sensor.catalog.restore(before.catalog.dump());
    sensor.add("sensor", { state_topic: "s" });
    sensor.catalog.clockSet(by);
    expect(sensor.catalog.readings("thing", sensor.now)[0]).toMatchObject({ value: "7", at });
    expect(sensor.device.lastSeen).toBe(at);
  });
});
