/** The work that publishers can make: bounded for a message, and for all messages of a second. */
import { expect, test } from "vitest";
import { compileTemplate, renderTemplate } from "./mqtt/template/template.ts";
import { NOW, newCatalog, OneDevice } from "./testkit/device-cases.ts";
import { costOf } from "./testkit/processor-time.ts";

/** Entities whose readings all follow from one topic, in devices of 50. */
function sensors(count: number, template: string, kind = "sensor", more: Record<string, unknown> = {}) {
  const catalog = newCatalog();
  for (let n = 0; n < count; n += 1)
    catalog.mqtt.config(
      `homeassistant/${kind}/s${n}/config`,
      JSON.stringify({
        unique_id: `s${n}`,
        name: `S${n}`,
        state_topic: "all",
        value_template: template,
        device: { identifiers: [`d${Math.floor(n / 50)}`], name: `Device ${Math.floor(n / 50)}` },
        ...more,
      }),
      NOW,
    );
  return catalog;
}

function texts(catalog: ReturnType<typeof newCatalog>, now: number): string[] {
  return catalog.devices(now).flatMap(({ id }) => catalog.readings(id, now, true).map(({ text }) => text));
}

test("S22: a number of 16,000 characters is read in linear time, as is what is nearly one", () => {
  const made = compileTemplate("{{ value | float(0) }}{{ value | int(0) }}{{ value is is_number }}");
  if (!made.ok) throw new Error(made.problem);
  for (const unit of ["9", "1_", "9 ", ".", "1.", "e1", " ", "-", "0x"]) {
    const value = `${unit.repeat(16_000 / unit.length)}!`;
    expect(
      costOf(() => renderTemplate(made.template, { value })),
      unit,
    ).toBeLessThan(50);
  }
});

test("S22: 2,000 sensors of one topic share one bound, and one byte does not stall them", () => {
  const loop = "{% for i in range(500) %}{{ loop.index * 2 }}{% endfor %}";
  const catalog = sensors(2_000, loop);
  const ms = costOf(() => catalog.mqtt.state("all", "1", { now: NOW, retained: false }));
  expect(ms).toBeLessThan(1_000);
  const told = texts(catalog, NOW);
  expect(told.filter((text) => text.startsWith("246"))).not.toEqual([]);
  const rest = told.filter((text) => !text.startsWith("246"));
  expect(rest.length).toBeGreaterThan(1_000);
  expect(new Set(rest)).toEqual(
    new Set([
      "not readable: the template is not rendered: the templates of this message take more than 50000 steps",
    ]),
  );
  // The bound is for one message: the next one that is cheap is read by all.
  const cheap = sensors(2_000, "{{ value_json.a }}");
  cheap.mqtt.state("all", '{"a":5}', { now: NOW, retained: false });
  expect(new Set(texts(cheap, NOW))).toEqual(new Set(["5"]));
});

test("S22: what the templates of all devices may take in a second is bounded; the last message of a topic waits for its turn", () => {
  const catalog = sensors(200, "{% for i in range(1000) %}{{ i }}{% endfor %}");
  const honest = { state_topic: "t", unit_of_measurement: "W", unique_id: "p", name: "Power" };
  catalog.mqtt.config(
    "homeassistant/sensor/p/config",
    JSON.stringify({ ...honest, device: { identifiers: ["p"], name: "Plug" } }),
    NOW,
  );
  const flood = () => {
    for (let n = 0; n < 500; n += 1) catalog.mqtt.state("all", String(n), { now: NOW, retained: false });
    for (let watts = 1; watts <= 20; watts += 1)
      catalog.mqtt.state("t", String(watts), { now: NOW, retained: false });
  };
  expect(costOf(flood)).toBeLessThan(1_500);
  const power = () => catalog.readings("plug", NOW).map(({ text }) => text);
  expect(power()).toEqual(["not reported yet"]);
  let now = NOW;
  for (let second = 1; second <= 3; second += 1) {
    now += 1_000;
    expect(costOf(() => catalog.mqtt.catchUp(now))).toBeLessThan(1_000);
  }
  expect(power()).toEqual(["20 W"]);
  expect(catalog.mqtt.catchUp(now + 1_000)).toEqual([]);
});

test("S22: a text of 16,000 characters is looked up among 3,000 options at once", () => {
  const options = Array.from({ length: 3_000 }, (_, n) => `o${n}`);
  const catalog = sensors(60, "{{ value }}", "select", { options, command_topic: "x" });
  const long = `${" ".repeat(8_000)}true${" ".repeat(8_000)}`;
  expect(costOf(() => catalog.mqtt.state("all", long, { now: NOW, retained: false }))).toBeLessThan(200);
  catalog.mqtt.state("all", "o2999", { now: NOW, retained: false });
  expect(new Set(texts(catalog, NOW))).toEqual(new Set(["o2999"]));
});

test("V8: a template that fails is told, and never the message", () => {
  const failing = new OneDevice()
    .add("sensor", { name: "A", state_topic: "s", value_template: "{{ value_json.a.b }}" }, "a")
    .add("sensor", { name: "B", state_topic: "s", value_template: "{{ states('sensor.x') }}" }, "b")
    .add("update", { name: "C", state_topic: "s", value_template: "{{ value | teapot }}" }, "c")
    .add(
      "light",
      {
        name: "D",
        schema: "template",
        state_topic: "s",
        command_topic: "c",
        red_template: "{{ value | teapot }}",
        green_template: "{{ 1 }}",
        blue_template: "{{ 1 }}",
      },
      "d",
    );
  failing.say("s", "secret words");
  const words = Object.values(failing.words(true));
  expect(words.filter((text) => text.startsWith("not readable: the template "))).toHaveLength(4);
  expect(words.join()).not.toContain("secret");
  for (const reading of failing.catalog.readings("thing", NOW, true))
    if (reading.text.startsWith("not readable"))
      expect(reading).toMatchObject({ value: null, tainted: true });
});

test("V8: `this` is the entity with its state before the message", () => {
  const sensor = new OneDevice().add("sensor", {
    name: "Counter",
    state_topic: "s",
    value_template:
      "{{ this.state }}>{{ value }} of {{ this.attributes.friendly_name }} {{ this.entity_id }}",
  });
  sensor.say("s", "1");
  expect(sensor.words()).toEqual({ Counter: "unknown>1 of Counter sensor.id sensor" });
  const total = new OneDevice().add("sensor", {
    state_topic: "s",
    unit_of_measurement: "l",
    value_template: "{{ this.state | float(0) + value | float(0) }}",
  });
  total.say("s", "1.5").say("s", "2");
  expect(total.words()).toEqual({ sensor: "3.5 l" });
});

test("V8: a bulb of Shelly is switched by its templates", () => {
  const on =
    '{"turn":"on"{% if red is defined and green is defined %},"red":{{ red }},"green":{{ green }}{% endif %}' +
    '{% if brightness is defined %},"gain":{{ brightness | float | multiply(0.3922) | round(0) }}{% endif %}}';
  const bulb = new OneDevice().add("light", {
    schema: "template",
    state_topic: "s",
    command_topic: "c",
    command_on_template: on,
    command_off_template: '{"turn":"off"}',
    state_template: "{% if value_json.ison %}on{% else %}off{% endif %}",
    brightness_template: "{{ value_json.gain | float | multiply(2.55) | round(0) }}",
    red_template: "{{ value_json.red }}",
    green_template: "{{ value_json.green }}",
    blue_template: "{{ value_json.blue }}",
  });
  bulb.say("s", { ison: false, gain: 40, red: 1, green: 2, blue: 3 });
  expect(bulb.words()).toMatchObject({ light: "off" });
  expect(bulb.sent("set", { on: true })).toEqual(['c {"turn":"on"}']);
  expect(bulb.sent("set", { brightness_pct: 50 })).toEqual(['c {"turn":"on","gain":50}']);
  expect(bulb.sent("set", { on: false })).toEqual(['c {"turn":"off"}']);
});
