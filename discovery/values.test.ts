/** What a value is, how it is told, and when a report fits what was asked: test/cases/device_values.json, and all steps of the usual scales. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { OneDevice, published } from "./testkit/device-cases.ts";

type Message = [topic: string, payload: string, retained?: boolean];
type Entity = { row: string; kind: string; config: Record<string, unknown> };
type ReadingCase = Entity & { payloads: string[]; reading?: string; text: string; value?: unknown };
type CommandCase = Entity & {
  action: string;
  parameters: Record<string, unknown>;
  sends: [topic: string, payload: string][];
  before: Message[];
  reports: Message[];
  confirmed: boolean;
  told: string;
};

const CASES: { readings: ReadingCase[]; commands: CommandCase[] } = JSON.parse(
  readFileSync(new URL("../test/cases/device_values.json", import.meta.url), "utf8"),
);

const titleOf = ({ row, kind, config }: Entity, what: unknown) =>
  `${row}: ${kind} ${JSON.stringify(config)}, ${JSON.stringify(what)}`;

describe("readings", () => {
  test.each(CASES.readings.map((one) => [titleOf(one, one.payloads), one] as const))("%s", (_, one) => {
    const device = new OneDevice().add(one.kind, one.config);
    for (const payload of one.payloads) device.say("s", payload);
    const readings = device.catalog.readings("thing", device.now, true);
    const found = one.reading === undefined ? readings[0] : readings.find(({ name }) => name === one.reading);
    expect(found?.text).toBe(one.text);
    if (one.value !== undefined) expect(found?.value).toBe(one.value);
    const { text } = device.catalog.read("thing", { all: true }, device.now) as { text: string };
    expect(text).toContain(`: ${one.text} (`);
  });
});

describe("commands", () => {
  test.each(
    CASES.commands.map((one) => [titleOf(one, [one.parameters, one.before, one.reports]), one] as const),
  )("%s", (_, { kind, config, action, parameters, sends, before, reports, confirmed, told }) => {
    const device = new OneDevice().add(kind, config);
    for (const [topic, payload, retained] of before) device.say(topic, payload, retained);
    device.after(60_000);
    const plan = device.plan(action, parameters);
    expect(published(plan).map(({ topic, payload }) => [topic, payload])).toEqual(sends);
    const mark = device.mark();
    expect(plan.confirm?.(mark)).toBeUndefined();
    device.after(1_000);
    for (const [topic, payload, retained] of reports) device.say(topic, payload, retained);
    const found = plan.confirm?.(mark)?.text;
    expect(found ?? plan.unconfirmed(mark)).toBe(told);
    expect(found !== undefined).toBe(confirmed);
  });
});

/** Carries a change of a light out twice. @param answer what the light reports of the message that it got */
function twice(
  config: Record<string, unknown>,
  parameters: Record<string, unknown>,
  answer: (message: Record<string, number>) => Record<string, unknown>,
): void {
  const lamp = new OneDevice().add("light", {
    schema: "json",
    command_topic: "a",
    state_topic: "s",
    supported_color_modes: ["color_temp"],
    ...config,
  });
  for (const _ of ["first", "second"]) {
    const [sent] = published(lamp.plan("set", parameters));
    const reported = answer(JSON.parse(sent?.payload ?? ""));
    lamp.confirmedBy("set", parameters, ["s", { state: "ON", ...reported }]);
  }
}

const KELVINS = Array.from({ length: 46 }, (_, at) => 2_000 + at * 100);

test.each(KELVINS)("V5: %d K, twice, of lamps that count in mireds and say so, or say kelvin", (kelvin) => {
  const mireds = { min_mireds: 153, max_mireds: 500 };
  twice(mireds, { kelvin }, ({ color_temp = 0 }) => ({ color_temp }));
  const kelvins = { color_temp_kelvin: true, min_kelvin: 2_000, max_kelvin: 6_535 };
  for (const round of [Math.round, Math.floor])
    twice(kelvins, { kelvin }, ({ color_temp = 0 }) => ({
      color_temp: round(1_000_000 / round(1_000_000 / color_temp)),
    }));
  // A lamp that stays where it is has not obeyed.
  const lamp = new OneDevice().add("light", {
    schema: "json",
    command_topic: "a",
    state_topic: "s",
    supported_color_modes: ["color_temp"],
    ...mireds,
  });
  const other = Math.floor(1_000_000 / kelvin) + (kelvin === 2_000 ? -1 : 1);
  lamp.say("s", { state: "ON", color_temp: other });
  lamp.notConfirmedBy("set", { kelvin }, ["s", { state: "ON", color_temp: other }]);
});

const PERCENTS = Array.from({ length: 100 }, (_, at) => at + 1);

test.each([
  [1, 1],
  [10, 10],
  [99, 99],
  [100, 100],
  [254, 254],
  [255, 255],
  [1_000, 1_000],
  [65_535, 65_535],
  [255, 99],
  [255, 254],
  [254, 99],
  [254, 100],
  [1_023, 254],
])("V5: all percents, twice, of a light with a scale to %d that counts to %d inside", (scale, inside) => {
  for (const percent of PERCENTS)
    twice(
      { brightness: true, brightness_scale: scale },
      { brightness_pct: percent },
      ({ brightness = 0 }) => ({
        brightness: Math.round((Math.round((brightness * inside) / scale) * scale) / inside),
      }),
    );
});

test.each([99, 100, 254, 255, 1_000])(
  "V4: a light with a scale to %d that stays at another percent has not obeyed",
  (scale) => {
    for (const percent of PERCENTS.slice(1)) {
      const lamp = new OneDevice().add("light", {
        schema: "json",
        command_topic: "a",
        state_topic: "s",
        brightness: true,
        brightness_scale: scale,
      });
      const before = Math.round(((percent - 1) * scale) / 100);
      const sent = Math.round((percent * scale) / 100);
      // A coarse scale has the same number for both.
      if (before === 0 || before === sent) continue;
      const reported = ["s", { state: "ON", brightness: before }] as const;
      lamp.say(...reported).notConfirmedBy("set", { brightness_pct: percent }, reported);
    }
  },
);

test.each([100, 99, 255, 10])("V5: all positions, twice, of a cover with a range to %d", (position_open) => {
  for (let position = 0; position <= 100; position += 1) {
    const cover = new OneDevice().add("cover", {
      position_topic: "s",
      set_position_topic: "a",
      position_open,
    });
    for (const _ of ["first", "second"]) {
      const [sent] = published(cover.plan("set_position", { position }));
      cover.confirmedBy("set_position", { position }, ["s", sent?.payload ?? ""]);
    }
  }
});

test("V14: a password is in no answer, no words and no file; its parameter says what it is", () => {
  const gate = new OneDevice().add("text", {
    name: "Door code",
    command_topic: "a",
    state_topic: "s",
    mode: "password",
    pattern: "[a-z0-9-]+",
  });
  gate.say("s", "s3cret-4711");
  const { catalog, now } = gate;
  const [key] = catalog.keysOf(catalog.mqtt.partsOn("s"), now);
  const told = JSON.stringify([
    catalog.readings("thing", now, true),
    catalog.read("thing", {}, now),
    catalog.readingOf(key ?? "", "Door code", now),
    catalog.devices(now),
    catalog.dump(),
    gate.refusal("set", { value: "N3W!" }),
  ]);
  expect(told).not.toMatch(/s3cret|N3W/);
  expect(catalog.read("thing", {}, now)).toEqual({
    text: "Door code: (not shown) (0 s ago)",
    tainted: false,
  });
  expect(gate.schema("set").properties).toMatchObject({ value: { type: "string", writeOnly: true } });
});

test("V16: the schema of a climate's preset has `none`, once, and that of a fan has not", () => {
  const config = { preset_mode_command_topic: "a", preset_modes: ["none", "eco"] };
  const presets = (kind: string) =>
    new OneDevice().add(kind, { command_topic: "c", ...config }).schema("set").properties;
  expect(presets("climate")).toMatchObject({ preset: { enum: ["none", "eco"] } });
  expect(
    new OneDevice().add("fan", { command_topic: "c", ...config, preset_modes: ["eco"] }).schema("set")
      .properties,
  ).toMatchObject({ preset: { enum: ["eco"] } });
});
