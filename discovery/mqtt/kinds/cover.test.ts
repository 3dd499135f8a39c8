import { describe, expect, test } from "vitest";
import { OneDevice } from "../../testkit/device-cases.ts";

const BLIND = {
  command_topic: "b/set",
  state_topic: "b/state",
  position_topic: "b/position",
  set_position_topic: "b/position/set",
};

describe("a cover", () => {
  test("its actions", () => {
    const blind = new OneDevice().add("cover", BLIND);
    expect(blind.sent("open")).toEqual(["b/set OPEN"]);
    expect(blind.sent("close")).toEqual(["b/set CLOSE"]);
    expect(blind.sent("stop")).toEqual(["b/set STOP"]);
    expect(blind.sent("set_position", { position: 40 })).toEqual(["b/position/set 40"]);
    expect(blind.schema("set_position")).toEqual({
      type: "object",
      properties: { position: { type: "integer", minimum: 0, maximum: 100 } },
      required: ["position"],
      additionalProperties: false,
    });
    expect(blind.refusal("set_position", { position: 40.5 })).toBe(
      "position: it has to be a whole number from 0 to 100",
    );
    expect(blind.refusal("set_position")).toBe("position: it is missing");
    expect(blind.plan("open").waitMs).toBe(60_000);
  });

  test("a command whose payload is null is not known to the device", () => {
    const blind = new OneDevice().add("cover", { ...BLIND, payload_stop: null, payload_open: "UP" });
    expect(blind.device.actions.map(({ name }) => name)).toEqual(["read", "open", "close", "set_position"]);
    expect(blind.sent("open")).toEqual(["b/set UP"]);
  });

  test.each([
    [0, 100, 40, "40"],
    [100, 0, 40, "60"],
    [0, 255, 40, "102"],
    [20, 120, 0, "20"],
  ])(
    "positions from %d (closed) to %d (open): %d %% is sent as %s",
    (position_closed, position_open, position, payload) => {
      const blind = new OneDevice().add("cover", { ...BLIND, position_closed, position_open });
      expect(blind.sent("set_position", { position })).toEqual([`b/position/set ${payload}`]);
      blind.say("b/position", payload);
      expect(blind.words()).toMatchObject({ position: `${position} %${position === 0 ? " (closed)" : ""}` });
    },
  );

  test("a template gets both the percentage and the scaled value", () => {
    const blind = new OneDevice().add("cover", {
      ...BLIND,
      position_open: 50,
      set_position_template: '{"position": {{ position }}, "raw": {{ value }}, "of": {{ position_open }}}',
    });
    expect(blind.sent("set_position", { position: 40 })).toEqual([
      'b/position/set {"position": 40, "raw": 20, "of": 50}',
    ]);
  });

  test("a tilt has a range of its own", () => {
    const blind = new OneDevice().add("cover", {
      ...BLIND,
      tilt_command_topic: "b/tilt/set",
      tilt_status_topic: "b/tilt",
      tilt_max: 180,
    });
    expect(blind.sent("set_tilt", { tilt: 50 })).toEqual(["b/tilt/set 90"]);
    expect(blind.confirmedBy("set_tilt", { tilt: 50 }, ["b/tilt", "20"], ["b/tilt", "90"])).toBe(
      "Thing: tilt 50 %, reported 2.0 s after the command.",
    );
  });

  test("its states in its own words, also as JSON", () => {
    const blind = new OneDevice().add("cover", {
      ...BLIND,
      state_open: "OPEN",
      state_closed: "CLOSE",
      position_template: "{{ value }}",
    });
    blind.say("b/state", "OPEN").say("b/position", { position: 30 });
    expect(blind.words()).toEqual({ cover: "open", position: "30 %" });
    blind.say("b/state", "half");
    expect(blind.words()).toMatchObject({ cover: "open" });
    blind.say("b/state", "None");
    expect(blind.words()).toMatchObject({ cover: "unknown" });
  });

  test("first it moves, then it is there", () => {
    const blind = new OneDevice().add("cover", BLIND).say("b/position", "0").say("b/state", "closed");
    expect(
      blind.confirmedBy(
        "set_position",
        { position: 40 },
        ["b/state", "opening"],
        ["b/position", "39"],
        ["b/state", "open"],
      ),
    ).toBe("Thing: position 39 % (it was: position 0 % (closed)), reported 2.0 s after the command.");
    blind.confirmedBy("open", {}, ["b/state", "opening"], ["b/position", "100"], ["b/state", "open"]);
    blind.confirmedBy("close", {}, ["b/state", "closing"], ["b/state", "closed"]);
    blind.say("b/state", "opening").confirmedBy("stop", {}, ["b/state", "opening"], ["b/state", "stopped"]);
    blind.say("b/state", "opening").confirmedBy("stop", {}, ["b/state", "open"]);
  });

  test("one that says `open` all the way cannot say that it has stopped", () => {
    const blind = new OneDevice().add("cover", BLIND).say("b/state", "open").say("b/position", "40");
    const plan = blind.plan("stop");
    expect(plan.confirm).toBeNull();
    const unheard = new OneDevice().add("cover", BLIND);
    expect(unheard.notConfirmedBy("stop", {}, ["b/state", "open"], ["b/position", "45"])).toContain(
      "did not report stopped",
    );
  });

  test("`open` of a cover that is only a bit open is not the end", () => {
    const blind = new OneDevice().add("cover", BLIND);
    expect(blind.notConfirmedBy("open", {}, ["b/state", "open"], ["b/position", "60"])).toBe(
      "Sent to Thing; within 60 s it did not report open. It reports: open.",
    );
    new OneDevice()
      .add("cover", { ...BLIND, position_topic: undefined })
      .confirmedBy("open", {}, ["b/state", "open"]);
  });

  test("one that only reports positions cannot say that it has stopped", () => {
    const blind = new OneDevice().add("cover", { ...BLIND, state_topic: undefined });
    expect(blind.plan("stop").confirm).toBeNull();
    expect(blind.plan("close").confirm).not.toBeNull();
    blind.say("b/position", "70");
    expect(blind.words()).toEqual({ cover: "70 %" });
  });

  test.each(["garage", "gate", "door", "damper"])("a %s asks each time", (device_class) => {
    const cover = new OneDevice().add("cover", { ...BLIND, device_class });
    expect(cover.device.actions.filter(({ danger }) => danger).map(({ name }) => name)).toEqual([
      "open",
      "close",
      "stop",
      "set_position",
    ]);
  });

  test("another class does not", () => {
    const blind = new OneDevice().add("cover", { ...BLIND, device_class: "shutter" });
    expect(blind.device.actions.some(({ danger }) => danger)).toBe(false);
  });
});

describe("a valve", () => {
  test("by words; it stops only where it says how", () => {
    const valve = new OneDevice().add("valve", { command_topic: "v/set", state_topic: "v" });
    expect(valve.device.actions.map(({ name, danger }) => [name, danger === true])).toEqual([
      ["read", false],
      ["open", true],
      ["close", true],
    ]);
    expect(valve.sent("close")).toEqual(["v/set CLOSE"]);
    valve.confirmedBy("close", {}, ["v", "closing"], ["v", { state: "closed" }]);
    expect(valve.words()).toEqual({ valve: "closed" });
  });

  test("by position; the command's topic takes the number", () => {
    const valve = new OneDevice().add("valve", {
      command_topic: "v/set",
      state_topic: "v",
      reports_position: true,
      position_open: 50,
      payload_stop: "HALT",
    });
    expect(valve.sent("open")).toEqual(["v/set 50"]);
    expect(valve.sent("close")).toEqual(["v/set 0"]);
    expect(valve.sent("set_position", { position: 20 })).toEqual(["v/set 10"]);
    expect(valve.sent("stop")).toEqual(["v/set HALT"]);
    valve.confirmedBy("set_position", { position: 20 }, ["v", "opening"], ["v", "10"]);
    valve.confirmedBy("close", {}, ["v", { state: "closing", position: 5 }], ["v", { position: 0 }]);
  });
});
