import { describe, expect, test } from "vitest";
import { OneDevice } from "../../../testkit/device-cases.ts";

const FULL = {
  schema: "json",
  command_topic: "lamp/set",
  state_topic: "lamp",
  brightness: true,
  brightness_scale: 254,
  supported_color_modes: ["xy", "color_temp"],
  min_mireds: 153,
  max_mireds: 500,
  effect: true,
  effect_list: ["blink", "colorloop"],
};

describe("JSON", () => {
  test("its schema is what the light can", () => {
    expect(new OneDevice().add("light", FULL).schema("set")).toEqual({
      type: "object",
      properties: {
        on: { type: "boolean", description: "true: on, false: off" },
        brightness_pct: { type: "integer", minimum: 1, maximum: 100, description: "percent" },
        kelvin: { type: "integer", minimum: 2_000, maximum: 6_535, description: "low is warm white" },
        rgb: {
          type: "array",
          items: { type: "integer", minimum: 0, maximum: 255 },
          minItems: 3,
          maxItems: 3,
          description: "red, green, blue",
        },
        effect: { type: "string", enum: ["blink", "colorloop"] },
        transition_s: {
          type: "number",
          minimum: 0,
          maximum: 60,
          description: "seconds that the change takes",
        },
      },
      additionalProperties: false,
    });
  });

  test.each([
    [{ on: true }, { state: "ON" }],
    [
      { on: false, transition_s: 2 },
      { state: "OFF", transition: 2 },
    ],
    [{ brightness_pct: 50 }, { state: "ON", brightness: 127 }],
    // Never zero, which some lights take for off.
    [{ brightness_pct: 1 }, { state: "ON", brightness: 3 }],
    [{ kelvin: 2_700 }, { state: "ON", color_temp: 370 }],
    [{ rgb: [255, 0, 0] }, { state: "ON", color: { x: 0.701, y: 0.299 } }],
    [{ effect: "blink" }, { state: "ON", effect: "blink" }],
  ])("%j is sent as %j", (asked, message) => {
    expect(new OneDevice().add("light", FULL).sent("set", asked)).toEqual([
      `lamp/set ${JSON.stringify(message)}`,
    ]);
  });

  test("a dim scale never becomes zero", () => {
    const lamp = new OneDevice().add("light", { ...FULL, brightness_scale: 10 });
    expect(lamp.sent("set", { brightness_pct: 1 })).toEqual([`lamp/set {"state":"ON","brightness":1}`]);
  });

  test.each([
    [["rgb"], { color: { r: 10, g: 20, b: 30 } }],
    [["rgbw"], { color: { r: 10, g: 20, b: 30, w: 0 } }],
    [["rgbww"], { color: { r: 10, g: 20, b: 30, c: 0, w: 0 } }],
    [["hs"], { color: { h: 210, s: 66.667 } }],
  ])("colours for %j", (supported_color_modes, message) => {
    const lamp = new OneDevice().add("light", { ...FULL, supported_color_modes });
    expect(lamp.sent("set", { rgb: [10, 20, 30] })).toEqual([
      `lamp/set ${JSON.stringify({ state: "ON", ...message })}`,
    ]);
  });

  test("without `brightness: true`, the colour carries the brightness", () => {
    const lamp = new OneDevice().add("light", { ...FULL, brightness: false, supported_color_modes: ["rgb"] });
    expect(lamp.sent("set", { rgb: [200, 100, 0], brightness_pct: 50 })).toEqual([
      `lamp/set {"state":"ON","color":{"r":100,"g":50,"b":0}}`,
    ]);
  });

  test("kelvin where the light says so, with its own bounds", () => {
    const lamp = new OneDevice().add("light", {
      ...FULL,
      color_temp_kelvin: true,
      min_mireds: undefined,
      max_mireds: undefined,
      min_kelvin: 2_200,
      max_kelvin: 4_000,
    });
    expect(lamp.sent("set", { kelvin: 2_700 })).toEqual([`lamp/set {"state":"ON","color_temp":2700}`]);
    expect(lamp.refusal("set", { kelvin: 5_000 })).toBe(
      "kelvin: it has to be a whole number from 2200 to 4000",
    );
    lamp.say("lamp", { state: "ON", color_temp: 3_000 });
    expect(lamp.words()).toMatchObject({ "colour temperature": "3000 K" });
  });

  test("a light that is only on or off", () => {
    const lamp = new OneDevice().add("light", {
      schema: "json",
      command_topic: "lamp/set",
      state_topic: "lamp",
      transition: false,
    });
    expect(Object.keys(lamp.schema("set").properties as object)).toEqual(["on"]);
    expect(lamp.device.line).toBe("light");
  });

  test.each([
    [{}, "on: at least one of on, brightness_pct, kelvin, rgb, effect, transition_s has to be given"],
    [{ transition_s: 1 }, "on: transition_s alone changes nothing"],
    [{ on: false, brightness_pct: 5 }, "brightness_pct: it cannot be set together with on: false"],
    [{ kelvin: 3_000, rgb: [1, 2, 3] }, "rgb: it cannot be set together with kelvin"],
    [{ brightness_pct: 0 }, "brightness_pct: it has to be a whole number from 1 to 100"],
    [{ rgb: [1, 2] }, "rgb: it has to be a list of 3 numbers"],
    [{ rgb: [1, 2, 256] }, "rgb: it has to be a whole number from 0 to 255"],
    [{ effect: "rainbow" }, "effect: it has to be one of blink, colorloop"],
    [{ on: "yes" }, "on: it has to be true or false"],
    [
      { power: 1 },
      "power: there is no such parameter; there are: on, brightness_pct, kelvin, rgb, effect, transition_s",
    ],
  ])("%j is refused, and the parameter named", (asked, words) => {
    expect(new OneDevice().add("light", FULL).refusal("set", asked)).toBe(words);
  });

  test("a state is read, and its null members say nothing", () => {
    const lamp = new OneDevice().add("light", FULL);
    lamp.say("lamp", {
      state: "ON",
      brightness: 127,
      color_temp: 370,
      color: { x: 0.31, y: 0.32 },
      effect: "blink",
    });
    const words = {
      light: "on",
      brightness: "50 %",
      "colour temperature": "2702 K",
      colour: "xy 0.31, 0.32",
      effect: "blink",
    };
    expect(lamp.words()).toEqual(words);
    lamp.say("lamp", { state: "OFF", brightness: null, color_temp: null, color: null, effect: null });
    expect(lamp.words()).toEqual({ light: "off" });
    lamp.say("lamp", { state: "ON", brightness: 0 }).say("lamp", "no JSON").say("lamp", "[]");
    expect(lamp.words()).toEqual(words);
    lamp.say("lamp", { state: null });
    expect(lamp.words()).toMatchObject({ light: "unknown" });
  });

  test("a change is confirmed by each value that was asked for", () => {
    const lamp = new OneDevice().add("light", FULL).say("lamp", { state: "OFF", brightness: 254 });
    expect(
      lamp.confirmedBy(
        "set",
        { on: true, brightness_pct: 40 },
        ["lamp", { state: "ON", brightness: 254 }],
        ["lamp", { state: "ON", brightness: 101 }],
      ),
    ).toBe("Thing: on, brightness 40 %, reported 2.0 s after the command.");
    expect(lamp.confirmedBy("set", { kelvin: 2_700 }, ["lamp", { state: "ON", color_temp: 370 }])).toBe(
      "Thing: colour temperature 2702 K, reported 1.0 s after the command.",
    );
    expect(
      lamp.confirmedBy(
        "set",
        { rgb: [255, 0, 0] },
        // A lamp that cannot show the colour says so.
        ["lamp", { state: "ON", color: { x: 0.69, y: 0.3 } }],
        ["lamp", { state: "ON", color: { x: 0.7006, y: 0.2993 } }],
      ),
    ).toBe("Thing: colour xy 0.7006, 0.2993, reported 2.0 s after the command.");
    expect(lamp.confirmedBy("set", { on: false }, ["lamp", { state: "OFF" }])).toBe(
      "Thing: off (it was: on), reported 1.0 s after the command.",
    );
  });

  test("a brightness that was there before is no confirmation of another one, nor is a light that is off", () => {
    const lamp = new OneDevice().add("light", FULL).say("lamp", { state: "ON", brightness: 127 });
    expect(
      lamp.notConfirmedBy("set", { brightness_pct: 51 }, ["lamp", { state: "ON", brightness: 127 }]),
    ).toBe("Sent to Thing; within 15 s it did not report brightness 51 %. It reports: brightness 50 %.");
    lamp.notConfirmedBy("set", { brightness_pct: 80 }, ["lamp", { state: "OFF", brightness: 203 }]);
  });

  test("a transition is waited for", () => {
    const lamp = new OneDevice().add("light", FULL);
    expect(lamp.plan("set", { on: true, transition_s: 10 }).waitMs).toBe(25_000);
    expect(lamp.device.actions.find(({ name }) => name === "set")?.timeout_ms).toBe(75_000);
  });
});

describe("a topic for each value", () => {
  const BASIC = {
    command_topic: "a/power",
    state_topic: "s/power",
    brightness_command_topic: "a/brightness",
    brightness_state_topic: "s/brightness",
    color_temp_command_topic: "a/temp",
    color_temp_state_topic: "s/temp",
    rgb_command_topic: "a/rgb",
    rgb_state_topic: "s/rgb",
    effect_command_topic: "a/effect",
    effect_state_topic: "s/effect",
    effect_list: ["pulse"],
  };

  test.each([
    ["last", { brightness_pct: 40 }, ["a/brightness 102", "a/power ON"]],
    ["first", { brightness_pct: 40 }, ["a/power ON", "a/brightness 102"]],
    ["brightness", { brightness_pct: 40 }, ["a/brightness 102"]],
    ["brightness", { on: true }, ["a/brightness 255"]],
    ["brightness", { on: false }, ["a/power OFF"]],
    ["last", { kelvin: 4_000, effect: "pulse" }, ["a/temp 250", "a/effect pulse", "a/power ON"]],
    ["last", { rgb: [1, 2, 3] }, ["a/rgb 1,2,3", "a/power ON"]],
  ])("on_command_type %s, %j", (on_command_type, asked, sent) => {
    expect(new OneDevice().add("light", { ...BASIC, on_command_type }).sent("set", asked)).toEqual(sent);
  });

  test("`brightness` switches on with the brightness that it had", () => {
    const lamp = new OneDevice().add("light", { ...BASIC, on_command_type: "brightness" });
    lamp.say("s/brightness", "51");
    expect(lamp.sent("set", { on: true })).toEqual(["a/brightness 51"]);
  });

  test("templates of commands have Home Assistant's names", () => {
    const lamp = new OneDevice().add("light", {
      ...BASIC,
      rgb_command_template: "{{ '#%02x' | format(red) }}{{ green }}-{{ blue }}",
      brightness_command_template: "{{ value / 255 }}",
    });
    expect(lamp.sent("set", { rgb: [255, 1, 2] })[0]).toBe("a/rgb #ff1-2");
    expect(lamp.sent("set", { brightness_pct: 100 })[0]).toBe("a/brightness 1.0");
  });

  test("states are read, and confirm", () => {
    const lamp = new OneDevice().add("light", BASIC);
    lamp.say("s/power", "ON").say("s/brightness", "102").say("s/temp", "250").say("s/rgb", "9,8,7");
    lamp.say("s/effect", "pulse");
    expect(lamp.words()).toEqual({
      light: "on",
      brightness: "40 %",
      "colour temperature": "4000 K",
      colour: "rgb 9, 8, 7",
      effect: "pulse",
    });
    // A light that was on need not say so again.
    lamp.confirmedBy("set", { brightness_pct: 60 }, ["s/brightness", "153"]);
    lamp.confirmedBy("set", { on: false }, ["s/power", "OFF"]);
    lamp.notConfirmedBy("set", { on: true, brightness_pct: 60 }, ["s/brightness", "153"]);
  });

  test("what no topic reports is sent, and not confirmed", () => {
    const lamp = new OneDevice().add("light", { ...BASIC, effect_state_topic: undefined });
    const plan = lamp.plan("set", { on: true, effect: "pulse" });
    expect(plan.confirm).toBeNull();
    expect(plan.unconfirmed(lamp.mark())).toBe(
      "Sent to Thing. It does not report this, so nobody can say whether it worked: effect pulse.",
    );
  });
});

describe("templates", () => {
  const TEMPLATES = {
    schema: "template",
    command_topic: "t/set",
    state_topic: "t",
    command_on_template:
      '{"on":1{%- if brightness is defined -%},"b":{{ brightness }}{%- endif -%}{%- if red is defined -%},"c":[{{ red }},{{ green }},{{ blue }}]{%- endif -%}{%- if color_temp is defined -%},"t":{{ color_temp }}{%- endif -%}{%- if transition is defined -%},"s":{{ transition }}{%- endif -%}}',
    command_off_template: '{"on":0}',
    state_template: "{{ 'on' if value_json.on else 'off' }}",
    brightness_template: "{{ value_json.b }}",
    color_temp_template: "{{ value_json.t }}",
    red_template: "{{ value_json.c[0] }}",
    green_template: "{{ value_json.c[1] }}",
    blue_template: "{{ value_json.c[2] }}",
  };

  test.each([
    [{ on: false }, '{"on":0}'],
    [{ on: true }, '{"on":1}'],
    [{ brightness_pct: 50, transition_s: 2 }, '{"on":1,"b":128,"s":2}'],
    [{ rgb: [1, 2, 3] }, '{"on":1,"c":[1,2,3]}'],
    [{ kelvin: 2_500 }, '{"on":1,"t":400}'],
  ])("%j", (asked, payload) => {
    expect(new OneDevice().add("light", TEMPLATES).sent("set", asked)).toEqual([`t/set ${payload}`]);
  });

  test("states are read, and confirm", () => {
    const lamp = new OneDevice().add("light", TEMPLATES);
    lamp.confirmedBy("set", { rgb: [1, 2, 3] }, ["t", { on: 1, b: 128, c: [1, 2, 3], t: 400 }]);
    expect(lamp.words()).toEqual({
      light: "on",
      brightness: "50 %",
      "colour temperature": "2500 K",
      colour: "rgb 1, 2, 3",
    });
    lamp.confirmedBy("set", { on: false }, ["t", { on: 0 }]);
  });

  test("without its templates it is only read", () => {
    const lamp = new OneDevice().add("light", { ...TEMPLATES, command_off_template: undefined });
    expect(lamp.device.actions.map(({ name }) => name)).toEqual(["read"]);
    expect(lamp.device.notOffered).toEqual([{ what: "light", why: "it has no templates for its commands" }]);
  });
});
