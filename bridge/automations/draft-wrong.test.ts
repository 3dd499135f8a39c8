/** Inputs that make no rule: each fault is named with its field and what would be right, all of them at once. */
import { beforeEach, describe, expect, test } from "vitest";
import { DraftHome, HEATING_BACK, LEAK, LIGHT_OFF, SUNSET } from "./testkit/draft-home.ts";

let home: DraftHome;
beforeEach(() => {
  home = new DraftHome();
});

const ok = { ...LEAK };
const [when] = LEAK.when;
const [act] = LEAK.do;
const boiler = [{ agent_id: "boiler", action: "set", parameters: { on: true } }];
const doing = (more: object) => ({ ...ok, do: [{ ...act, ...more }] });
const lit = (more: object) => ({ ...ok, do: [{ agent_id: "hall-light", action: "set", ...more }] });
const if_ = (more: object) => ({ ...ok, when: [{ ...when, ...more }] });
const at = (more: object) => ({ ...ok, when: undefined, ...more });

test.each([
  ["not JSON", "{", /^not JSON: /],
  ["no object", "[]", /^expected an object with name/],
  ["no name", { ...ok, name: undefined }, /^name: expected string/],
  ["an empty name", { ...ok, name: " " }, /^name: give it a name/],
  ["a long name", { ...ok, name: "x".repeat(61) }, /^name: expected at most 60 characters$/],
  ["long words", { ...ok, say: "x".repeat(201) }, /^say: expected at most 200 characters$/],
  ["neither when nor at", at({}), /^when: give a condition \(when\), or a time \(at\)$/],
  ["an empty when", { ...ok, when: [] }, /^when: name a condition, or give 'at'$/],
  ["both", { ...ok, at: "07:00" }, /^at: it stands in place of 'when'/],
  [
    "five conditions",
    { ...ok, when: Array.from({ length: 5 }, () => when) },
    /^when: expected at most 4 conditions$/,
  ],
  ["seven actions", { ...ok, do: Array.from({ length: 7 }, () => act) }, /^do: expected at most 6 actions$/],
  ["no action", { ...ok, do: [] }, /^do: name an action$/],
  ["a time", at({ at: "25:00" }), /^at: expected HH:MM, sunrise or sunset, as in 07:30/],
  ["a sun", at({ at: "sunset-999" }), /^at: expected HH:MM/],
  ["days", { ...ok, days: "mo,xx" }, /^days: expected days of mo,tu,we,th,fr,sa,su, as in mo,tu$/],
  ["a window", { ...ok, only_between: "22-6" }, /^only_between: expected HH:MM-HH:MM/],
  ["a match", { ...ok, match: "some" }, /^match: expected one of "all"\|"any"$/],
  ["a field", { ...ok, onlyif: "x" }, /^onlyif: there is no such field\. Did you mean 'only_if'\?$/],
  ["another field", { ...ok, trigger: 1 }, /^trigger: there is no such field; there are name, when, /],
  [
    "a field of an action",
    doing({ wait_minute: 1 }),
    /^do\.0\.wait_minute: there is no such field\. Did you mean 'wait_minutes'\?$/,
  ],
  [
    "a device",
    if_({ agent_id: "kitchen-leek" }),
    /^when\.0\.agent_id: there is no device 'kitchen-leek'\. Did you mean 'kitchen-leak'\?$/,
  ],
  ["an unknown device", doing({ agent_id: "nothing" }), /^do\.0\.agent_id: there is no device 'nothing'$/],
  [
    "a reading",
    if_({ reading: "moist" }),
    /^when\.0\.reading: kitchen-leak has no reading 'moist'\. It has: moisture\./,
  ],
  ["a value", if_({ value: "damp" }), /^when\.0\.value: moisture is wet or dry, not 'damp'$/],
  ["no value", if_({ value: "" }), /^when\.0\.value: 'equal' needs what to compare with/],
  ["a comparison", if_({ is: "above", value: 3 }), /^when\.0\.is: moisture is no number/],
  ["an unknown comparison", if_({ is: "over" }), /^when\.0\.is: expected one of "above"/],
  [
    "presence of a device",
    if_({ reading: "presence" }),
    /^when\.0\.reading: a rule that acts does not look at whether a device is online/,
  ],
  ["a hold", if_({ for_minutes: 2_000 }), /^when\.0\.for_minutes: expected 0 to 1440$/],
  [
    "an action",
    doing({ action: "clos" }),
    /^do\.0\.action: main-water has no action 'clos'\. It has: open, close\. Did you mean 'close'\?$/,
  ],
  [
    "an action of other programs",
    lit({ action: "turn_off" }),
    /^do\.0\.action: hall-light has no 'turn_off'; use set with \{"on": false\}$/,
  ],
  ["a read", doing({ action: "read" }), /^do\.0\.action: no rule has 'read': it changes nothing$/],
  [
    "a parameter",
    doing({ parameters: { fast: true } }),
    /^do\.0\.parameters: fast: there is no such parameter$/,
  ],
  [
    "a parameter's value",
    { ...ok, do: [{ agent_id: "living-room-trv", action: "set", parameters: { temperature: 50 } }] },
    /^do\.0\.parameters: temperature: it has to be a whole number from 7 to 35$/,
  ],
  ["a missing parameter", lit({}), /^do\.0\.parameters: on: it is missing$/],
  ["a wait", doing({ wait_minutes: -1 }), /^do\.0\.wait_minutes: expected 0 to 720$/],
  [
    "waits",
    { ...ok, do: [act, act].map((one) => ({ ...one, wait_minutes: 400 })) },
    /^do: its waits are 800 min together; expected at most 720$/,
  ],
  [
    "off for nothing",
    { ...ok, over: "off" },
    /^over: 'off' switches off what the rule has switched on, and it switches nothing on/,
  ],
  [
    "undo of a valve",
    { ...ok, over: "undo" },
    /^over: 'undo' cannot bring back do\.0 \(close\): a person has to be asked/,
  ],
  [
    "undo of a time",
    { ...HEATING_BACK, over: "undo" },
    /^at_most_minutes: nothing tells when this is over, so 'undo' needs the minutes/,
  ],
  [
    "minutes and leave",
    { ...LIGHT_OFF, over: "leave", at_most_minutes: 5 },
    /^at_most_minutes: with 'leave' nothing ends/,
  ],
  ["minutes", { ...SUNSET, at_most_minutes: 800 }, /^at_most_minutes: expected 1 to 720$/],
  [
    "minutes of heat",
    { ...SUNSET, do: boiler },
    /^at_most_minutes: expected 1 to 180 for what heats or pumps$/,
  ],
  [
    "heat that stays",
    { ...SUNSET, over: "leave", at_most_minutes: undefined, do: boiler },
    /^over: what heats, pumps or sounds is switched off again: use 'off'$/,
  ],
] as const)("%s", async (_, input, wanted) => {
  const errors = await home.error(input);
  expect(errors).toEqual([expect.stringMatching(wanted)]);
});

test("all at once, so that one repair is enough", async () => {
  const errors = await home.error({
    when: [
      { agent_id: "front-dor", reading: "contact", is: "equal", value: "open", for_minutes: 9_000 },
      { agent_id: "outside", reading: "temperature", is: "belo", value: 3 },
      { agent_id: "outside", reading: "humidity", is: "below", value: 3 },
    ],
    only_if: "nobody",
    only_between: "x",
    do: [
      { agent_id: "boiler", action: "start" },
      { agent_id: "hall-light", action: "set", parameters: { on: "yes" } },
    ],
    overs: "off",
  });
  expect(errors.map((line) => line.split(":")[0]).sort()).toEqual([
    "do.0.action",
    "do.1.parameters",
    "name",
    "only_between",
    "only_if",
    "overs",
    "when.0.agent_id",
    "when.0.for_minutes",
    "when.1.is",
    "when.2.reading",
  ]);
});

test("more than the model gets is counted", async () => {
  const errors = await home.error({
    ...LEAK,
    do: Array.from({ length: 6 }, () => ({ agent_id: "x".repeat(200), action: "y", wait_minutes: 900 })),
    when: Array.from({ length: 4 }, () => ({
      ...{ agent_id: "z".repeat(200), reading: "r", is: "equal", value: "v".repeat(90), for_minutes: 9_999 },
    })),
  });
  expect(errors.join(" | ").length).toBeLessThanOrEqual(1_200);
  expect(errors.at(-1)).toMatch(/^and \d+ more$/);
});

test("what the home does not know", async () => {
  home.presence = [];
  home.place = undefined;
  expect(await home.error({ ...SUNSET, only_if: "nobody_home" })).toEqual([
    expect.stringMatching(/^at: the home's bridge does not know where the home is/),
    expect.stringMatching(/^only_if: nothing says who is at home; an owner names it .*\(PRESENCE\)/),
  ]);
});

test("devices of one name are told apart by their ids, and what is read only stays so", async () => {
  home.config("switch", "hall2", "Hall light", {
    command_topic: "hall2/set",
    state_topic: "hall2",
    name: null,
  });
  home.update();
  const on = { action: "set", parameters: { on: true } };
  expect(await home.error(lit({ ...on, agent_id: "Hall light" }))).toEqual([
    "do.0.agent_id: several devices are called so: hall-light, hall-light-2",
  ]);
  const { card } = await home.drafted(lit({ ...on, agent_id: "hall-light-2" }));
  expect(card[2]).toBe("Then: Hall light (hall-light-2): switch on");
  home.mode = "read";
  expect(await home.error(lit({ ...on, agent_id: "hall-light-2" }))).toEqual([
    expect.stringMatching(/^do\.0\.agent_id: the home's bridge only reads this device/),
  ]);
});

describe("paired agents", () => {
  const advert = (name: string, more: object = {}) => ({
    ...{ name, description: "", effect: "device", parameters: { type: "object", properties: {} } },
    ...more,
  });

  beforeEach(() => {
    const schema = {
      type: "object",
      properties: { pin: { type: "integer" }, value: { type: "integer", enum: [0, 1] } },
      required: ["pin", "value"],
      additionalProperties: false,
    };
    const tools = [
      advert("gpio_write", { parameters: schema }),
      ...["bash", "git_commit", "ssh_run", "update_self"].map((name) => advert(name, { effect: "exec" })),
      advert("write", { effect: "write" }),
      advert("cpu", { effect: "read" }),
    ];
    home.paired = [{ id: "garden-pi", key: "key-of-garden-pi", tools: JSON.stringify({ hash: "h", tools }) }];
  });

  const step = { agent_id: "garden-pi", action: "gpio_write", parameters: { pin: 17, value: 1 } };

  test("act through the gateway, and the step names the action's version", async () => {
    const { automation, card } = await home.drafted({ ...LEAK, do: [step] });
    expect(automation.do).toEqual([
      {
        ...{ of: "agent", key: "key-of-garden-pi", agent: "garden-pi", action: "gpio_write" },
        parameters: { pin: 17, value: 1 },
        allow: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(card[2]).toBe('Then: garden-pi: gpio_write, {"pin":17,"value":1} (needs the gateway)');
    expect(card.join(" ")).toContain("but for the steps that need the gateway");
  });

  test.each(["bash", "write", "git_commit", "ssh_run", "update_self"])("never %s", async (action) => {
    expect(await home.error(doing({ agent_id: "garden-pi", action }))).toEqual([
      `do.0.action: no rule has '${action}': rules run no commands, change no files or settings, and ask no model`,
    ]);
  });

  test.each([
    [{ pin: 17 }, "value: it is missing"],
    [{ pin: 1.5, value: 1 }, "pin: it has to be a whole number"],
    [{ pin: 17, value: 2 }, "value: it has to be one of 0, 1"],
    [{ pin: 17, value: 1, force: true }, "force: there is no such parameter; there are: pin, value"],
  ])("%j is wrong", async (parameters, error) => {
    expect(await home.error({ ...LEAK, do: [{ ...step, parameters }] })).toEqual([
      `do.0.parameters: ${error}`,
    ]);
  });

  const fridge = { type: "number" as const, unit: "°C", now: { value: 4.5, at: 0 }, every_ms: 60_000 };
  const of = (more: object) =>
    if_({ agent_id: "garden-pi", reading: "fridge", is: "above", value: 8, ...more });

  test("are looked at by their values, which the gateway has asked for", async () => {
    home.readings = { "garden-pi": [{ name: "fridge", field: "celsius", ...fridge }] };
    for (const reading of ["fridge.celsius", "fridge", "fridge.\u2060celsius"]) {
      const { automation, card } = await home.drafted(of({ reading }));
      expect(automation.when).toMatchObject([
        {
          ...{ of: "agent", key: "key-of-garden-pi", agent: "garden-pi" },
          condition: {
            ...{ reading: "fridge", field: "celsius", type: "number", is: "above", value: 8, unit: "°C" },
            ...{ hold_ms: 60_000, stale_ms: 600_000 },
          },
        },
      ]);
      expect(card[1]).toBe("When: garden-pi: fridge (celsius) is above 8 °C for 1 min, over at 7.84 °C");
      expect(card.join(" ")).not.toContain("password");
      expect(card.join(" ")).toContain("How often it would have run is not known.");
    }
  });

  test.each([
    [
      { reading: "fridge.humidity" },
      /^when\.0\.reading: garden-pi has no reading 'fridge\.humidity'\. It has: fridge\.celsius \(°C\), fridge\.door/,
    ],
    [{ reading: "fridge" }, /^when\.0\.reading: garden-pi has no reading 'fridge'\. It has: fridge\.celsius/],
    [
      { reading: "fridge.celsius", is: "changes", value: undefined },
      /^when\.0\.is: of garden-pi, a paired agent, a rule that acts takes no moments/,
    ],
    [{ reading: "fridge.door" }, /^when\.0\.is: fridge\.door is no number/],
    [
      { reading: "presence" },
      /^when\.0\.reading: a rule that acts does not look at whether a device is online/,
    ],
  ])("have no such value: %j", async (more, error) => {
    home.readings = {
      "garden-pi": [
        { name: "fridge", field: "celsius", ...fridge },
        { name: "fridge", field: "door", type: "boolean" },
      ],
    };
    expect(await home.error(of(more))).toEqual([expect.stringMatching(error)]);
  });

  test("have no value that the gateway did not bring", async () => {
    expect(await home.error(of({}))).toEqual([
      "when.0.reading: garden-pi has no reading 'fridge'. It has: nothing that can be watched.",
    ]);
  });
});
