import type { DeviceView } from "@edgecall/client/routes.ts";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { describe, expect, test } from "vitest";
import { controlsOf } from "./control-kinds.ts";
import { fits, found, wantedOf } from "./devices/groups.ts";
import { outcomeOf } from "./outcome.ts";
import { thingsOf } from "./things.ts";

type Action = DeviceView["actions"][number];
type Reading = NonNullable<DeviceView["readings"]>[number];

const action = (
  name: string,
  properties: object = {},
  more: Partial<Action> & { required?: string[] } = {},
) => {
  const { required, ...rest } = more;
  const parameters = { type: "object", properties, ...(required && { required }) };
  return { name, description: "", parameters, effect: "device", ...rest };
};
const reading = (name: string, value: Reading["value"], more: Partial<Reading> = {}): Reading => ({
  name,
  value,
  text: String(value),
  kind: "sensor",
  at: 1,
  tainted: false,
  ...more,
});
const ON = { type: "boolean" };

function device(more: Partial<DeviceView>): DeviceView {
  return {
    id: "lamp",
    name: "Lamp",
    area: null,
    own: { name: null, area: null },
    line: "light",
    model: null,
    publisher: null,
    online: true,
    last_seen: 1,
    ghost: false,
    mode: "ask",
    chosen: false,
    allow: "a",
    allowed_by: null,
    allowed_at: null,
    changed: false,
    actions: [],
    settings: { offered: false, actions: [] },
    readings: null,
    not_offered: [],
    ...more,
  };
}

describe("controlsOf", () => {
  test("a lamp has a switch and a slider, which stand where the lamp is", () => {
    const brightness_pct = { type: "integer", minimum: 1, maximum: 100 };
    const actions = [
      action("read", {}, { effect: "read" }),
      action("set", { on: ON, brightness_pct, rgb: { type: "array" } }),
    ];
    const readings = [
      reading("light", true, { kind: "light" }),
      reading("brightness", 40, { kind: "light", unit: "%" }),
    ];
    expect(controlsOf({ actions, readings })).toEqual([
      { action: "set", part: "", isDangerous: false, kind: "switch", value: true },
      {
        ...{ action: "set", part: "", isDangerous: false, kind: "range", parameter: "brightness_pct" },
        ...{ label: "brightness", minimum: 1, maximum: 100, step: 1, unit: "%", value: 40 },
      },
    ]);
  });

  test("each part of a device has its own, with its own value", () => {
    const actions = [action("set_left", { on: ON }), action("set_bench_light", { on: ON })];
    const readings = [
      reading("Left", false, { kind: "switch" }),
      reading("Bench light", true, { kind: "light" }),
      reading("switch", true, { kind: "switch" }),
    ];
    expect(controlsOf({ actions, readings })).toMatchObject([
      { part: "left", value: false },
      { part: "bench light", value: true },
    ]);
  });

  test("a climate has its mode, and its target in its own steps; what it measures is not its target", () => {
    const temperature = { type: "number", minimum: 5, maximum: 30, description: "°C, step 0.2" };
    const actions = [action("set", { mode: { type: "string", enum: ["off", "heat"] }, temperature })];
    const readings = [
      reading("climate", "heat", { kind: "climate" }),
      reading("temperature", 19, { unit: "°C", kind: "climate" }),
      reading("target temperature", 21, { unit: "°C", kind: "climate" }),
    ];
    expect(controlsOf({ actions, readings })).toMatchObject([
      { kind: "choice", parameter: "mode", options: ["off", "heat"], value: "heat" },
      { kind: "range", parameter: "temperature", value: 21, step: 0.2, unit: "°C" },
    ]);
  });

  test("a cover is opened, closed and set; the position of one part is not another's", () => {
    const position = { type: "integer", minimum: 0, maximum: 100 };
    const actions = [
      action("open"),
      action("unlock", {}, { dangerous: true }),
      action("set_position", { position }, { required: ["position"] }),
      action("set_position_garage_door", { position }, { required: ["position"] }),
    ];
    const readings = [
      reading("position", 60, { kind: "cover" }),
      reading("Garage door position", 0, { kind: "cover" }),
    ];
    expect(controlsOf({ actions, readings })).toMatchObject([
      { kind: "press", label: "open", isDangerous: false },
      { kind: "press", label: "unlock", isDangerous: true },
      { kind: "range", part: "", value: 60 },
      { kind: "range", part: "garage door", value: 0 },
    ]);
  });

  test("a value that is not known or not to be had is none; an action with other parameters has its form alone", () => {
    const actions = [
      action("set", { on: ON }),
      action("sound", { on: ON, duration_s: {} }, { required: ["duration_s"] }),
    ];
    const readings = [reading("light", true, { kind: "light", unavailable: true })];
    expect(controlsOf({ actions, readings })).toMatchObject([{ kind: "switch", value: undefined }]);
    expect(controlsOf({ actions, readings: null })).toHaveLength(1);
  });
});

describe("the list", () => {
  const all = thingsOf(
    [
      device({ id: "b", name: "Blind", area: "Kitchen" }),
      device({ id: "x", name: "Box", online: false }),
      device({
        id: "a",
        name: "Air",
        area: "Kitchen",
        mode: "allowed",
        actions: [action("set", { on: ON })],
      }),
      device({ id: "d", name: "Door", area: "Attic", line: "lock", mode: "off", online: false }),
    ],
    [],
    true,
  );
  const ids = (things: typeof all) => things.map(({ id }) => id);

  test("each word is looked for in what a person sees of it", () => {
    expect(ids(found(all, " LOCK attic "))).toEqual(["d"]);
    expect(found(all, "kitchen lock")).toEqual([]);
  });

  test("filters: what was switched off here is not away, and what reads alone acts unasked never", () => {
    expect(ids(all.filter((thing) => fits(thing, "away")))).toEqual(["x"]);
    expect(ids(all.filter((thing) => fits(thing, "unasked")))).toEqual(["a"]);
  });

  test("an address names a thing, a filter, an area or the page to add one", () => {
    expect(wantedOf("work/lathe")).toEqual({ filter: "all", id: "work/lathe" });
    expect(wantedOf(":lights")).toEqual({ filter: "lights" });
    expect(wantedOf(":area:Living room")).toEqual({ filter: "all", area: "Living room" });
    expect(wantedOf(":add")).toMatchObject({ adds: true });
    expect(wantedOf(":nonsense")).toEqual({ filter: "all" });
  });
});

test("a part that reports nothing but that it is not available has no control that works", () => {
  const readings = [
    reading("Left", false, { kind: "switch", unavailable: true }),
    reading("Right", true, { kind: "switch" }),
  ];
  const actions = [action("set_left", { on: ON }), action("set_right", { on: ON })];
  expect(controlsOf({ actions, readings }).map(({ disabled }) => disabled)).toEqual([true, undefined]);
});

test.each([
  [{ status: "success", confirmed: true }, "success", "done, and confirmed by its state"],
  [{ status: "success" }, "success", "done"],
  [{ status: "success", asked: false, content: "Done!" }, "partial", NO_TOOL_CALLED],
  [{ status: "success", confirmed: false }, "partial", "sent, not confirmed"],
  [{ status: "error", error_type: "outcome_unknown" }, "partial", "sent, not confirmed"],
  [{ status: "error", error_type: "timeout" }, "error", "failed: timeout"],
])("an outcome of %j is said as it is", (payload, style, words) => {
  const reply = { request_id: "r", agent: "lamp", report_type: "result", payload, elapsed_ms: 1 };
  expect(outcomeOf(reply)).toMatchObject({ style, words });
});
