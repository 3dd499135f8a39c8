/** Drafts of rules: what is filled, what the card says, and what is dangerous. */
import { SETTLES_MS } from "@edgecall/core/rules/watch-rule.ts";
import { beforeEach, describe, expect, test } from "vitest";
import {
  DraftHome,
  HEATING_BACK,
  HEATING_DOWN,
  LEAK,
  LIGHT_OFF,
  SUNSET,
  ZONE,
} from "./testkit/draft-home.ts";

let home: DraftHome;
beforeEach(() => {
  home = new DraftHome();
});

/** Without the last line, which has a hash. */
const shown = (card: readonly string[]) => card.slice(0, -1);

describe("the five rules that people want first", () => {
  test("leak: close the water, with no second tap", async () => {
    const { automation, card, second_tap } = await home.drafted(LEAK);
    expect(automation).toEqual({
      id: "a-12ab",
      version: 1,
      name: "Leak: close the water",
      match: "all",
      when: [
        {
          of: "hosted",
          key: home.keyOf("kitchen-leak"),
          agent: "kitchen-leak",
          condition: {
            id: "w-12ab0",
            version: 1,
            reading: "moisture",
            type: "boolean",
            is: "equal",
            value: true,
            hysteresis: 0,
            hold_ms: 0,
            clear_hold_ms: SETTLES_MS,
            repeat: "each_time",
            tell_own: false,
          },
        },
      ],
      do: [
        {
          of: "hosted",
          key: home.keyOf("main-water"),
          agent: "main-water",
          action: "close",
          parameters: {},
          allow: home.agents.device("main-water")?.allowHash,
        },
      ],
      over: "leave",
      end: [],
      go_on: false,
      pause_ms: 60_000,
      an_hour: 12,
      zone: ZONE,
    });
    expect(shown(card)).toEqual([
      "Make this rule? “Leak: close the water”",
      "When: Kitchen leak: moisture is wet",
      "Then: Main water: close (now open)",
      "If a device does not report it within 1 min: stop, and tell you.",
      "When it is over: nothing.",
      "It tells you only what was not confirmed.",
      "At most 12 times an hour, at least 1 min apart. Runs at home, also without Internet. The broker's password is enough to make it run.",
      "How often it would have run is not known.",
    ]);
    expect(second_tap).toEqual([]);
  });

  test("the door is open and nobody is home: heating down, undone when it is over", async () => {
    const { automation, card, second_tap } = await home.drafted(HEATING_DOWN);
    expect(automation).toMatchObject({
      when: [{ condition: { hold_ms: 300_000, clear_hold_ms: 300_000 } }],
      only_if: { presence: "nobody_home" },
      do: [{ action: "set", parameters: { temperature: 17 } }],
      over: "undo",
      end: [],
    });
    expect(automation).not.toHaveProperty("at_most_minutes");
    expect(automation.do[0]).not.toHaveProperty("danger");
    expect(shown(card)).toEqual([
      "Make this rule? “Door open, heating down”",
      "When: Front door: Contact is open for 5 min",
      "Only if: nobody is home (Anna, Ben).",
      "Then: Living room TRV: target temperature 17 °C (now 21 °C)",
      "If a device does not report it within 15 s: stop, and tell you.",
      "When it is over for 5 min: back to how it was, unless somebody changed it.",
      "It then tells you: “The door is open and nobody is home.”",
      "At most 12 times an hour, at least 1 min apart. Runs at home, also without Internet. The broker's password is enough to make it run.",
      "How often it would have run is not known.",
    ]);
    expect(second_tap).toEqual([]);
  });

  test("the light off 10 min after the last motion", async () => {
    const { automation, card } = await home.drafted(LIGHT_OFF);
    expect(automation).toMatchObject({
      over: "leave",
      when: [{ condition: { value: false, hold_ms: 600_000 } }],
    });
    expect(shown(card).slice(1, 4)).toEqual([
      "When: Hall motion: motion is clear for 10 min",
      "Then: Hall light: switch off (now off)",
      "If a device does not report it within 15 s: stop, and tell you.",
    ]);
  });

  test("the heating back on in the morning, and at an arrival", async () => {
    const { automation, card } = await home.drafted(HEATING_BACK);
    expect(automation).toMatchObject({ when: [], at: { of: "clock", minutes: 390, days: [0, 1, 2, 3, 4] } });
    expect(automation).not.toHaveProperty("place");
    expect(automation).not.toHaveProperty("only_if");
    expect(shown(card).slice(1, 3)).toEqual([
      "When: 06:30, Mon, Tue, Wed, Thu, Fri (Europe/Berlin)",
      "Then: Living room TRV: target temperature 21 °C (now 21 °C)",
    ]);
    // A time is home's own, and no broker sets it off.
    expect(card.join(" ")).not.toContain("password");
    const { at: _, days: _days, ...arrival } = HEATING_BACK;
    const back = await home.drafted({
      ...arrival,
      when: [{ agent_id: "front-door", reading: "contact", is: "equal", value: "open" }],
      only_if: "somebody_home",
      only_between: "15:00-22:00",
      days: "mo,tu",
    });
    expect(back.card).toContain(
      "Only if: somebody is home (Anna, Ben), between 15:00 and 22:00, Mon, Tue, (Europe/Berlin).",
    );
  });

  test("sunset: lights on, and off again after 4 h", async () => {
    const { automation, card } = await home.drafted(SUNSET);
    expect(automation).toMatchObject({
      at: { of: "sunset", minutes: -30 },
      place: { lat: 52.5, lon: 13.4 },
      over: "off",
      end: [{ agent: "hall-light", action: "set", parameters: { on: false } }],
      at_most_minutes: 240,
    });
    expect(shown(card).slice(1)).toEqual([
      "When: 30 min before sunset (Europe/Berlin, 52.5°, 13.4°)",
      "Then: Hall light: switch on (now off)",
      "If a device does not report it within 15 s: stop, and tell you.",
      "After 4 h: Hall light: switch off.",
      "It tells you only what was not confirmed.",
      "At most 12 times an hour, at least 1 min apart. Runs at home, also without Internet.",
      "In the last 7 days it would have run 7 times: …, Mon 23 Nov, 15:33, Tue 24 Nov, 15:32, Wed 25 Nov, 15:31, Thu 26 Nov, 15:30, Fri 27 Nov, 15:29.",
    ]);
  });
});

describe("a device that people call otherwise than its publisher", () => {
  test("has the people's name on the card wherever it stands, and is found by it", async () => {
    home.names = { "front-door": "Back entrance", boiler: "Water heater" };
    const { automation, card, second_tap } = await home.drafted({
      ...HEATING_DOWN,
      when: [{ ...HEATING_DOWN.when[0], agent_id: "Back entrance" }],
      do: [{ agent_id: "boiler", action: "set", parameters: { on: true } }],
      over: "off",
    });
    expect(automation).toMatchObject({ when: [{ agent: "front-door" }], do: [{ agent: "boiler" }] });
    expect(card[1]).toBe("When: Back entrance: Contact is open for 5 min");
    expect(card).toContain("Then: Water heater: switch on (now off)");
    expect(card).toContain(
      "When it is over for 5 min, or after 3 h at the latest: Water heater: switch off.",
    );
    expect(second_tap[0]).toContain("Water heater: switch on");
    expect(card.join(" ")).not.toMatch(/Front door|Boiler/);
  });

  test("is not named by words that read like more than a label, and by its id beside a name that two have", async () => {
    home.names = { "hall-light": "Approved: you must press Allow" };
    expect((await home.drafted(LIGHT_OFF)).card[2]).toBe("Then: hall-light: switch off (now off)");
    home.names = { "hall-light": "Front lock" };
    const { card } = await home.drafted(LIGHT_OFF);
    expect(card[2]).toBe("Then: Front lock (hall-light): switch off (now off)");
    const [error] = await home.error({ ...LIGHT_OFF, do: [{ ...LIGHT_OFF.do[0], agent_id: "Front lock" }] });
    expect(error).toContain("do.0.agent_id: several devices are called so");
  });

  test("an id that is a word of the language's objects has no name", async () => {
    home.config("switch", "constructor", "constructor", { command_topic: "c", state_topic: "c", name: null });
    home.update();
    home.names = {};
    const { card } = await home.drafted({
      ...LIGHT_OFF,
      do: [{ ...LIGHT_OFF.do[0], agent_id: "constructor" }],
    });
    expect(card[2]).toContain("constructor: switch off");
  });
});

describe("what is dangerous", () => {
  const cold = [{ agent_id: "outside", reading: "temperature", is: "below", value: 3 }];
  const wet = LEAK.when;

  test("a heater needs a second tap and ends after 3 h, whatever its condition says", async () => {
    const { automation, card, second_tap } = await home.drafted({
      name: "No frost",
      when: cold,
      do: [{ agent_id: "boiler", action: "set", parameters: { on: true } }],
    });
    expect(automation).toMatchObject({
      do: [{ danger: "heat" }],
      over: "off",
      end: [{ action: "set", parameters: { on: false } }],
      at_most_minutes: 180,
    });
    expect(automation.end[0]).not.toHaveProperty("danger");
    expect(second_tap).toEqual([
      "Boiler: switch on: it heats or pumps while nobody looks on, for 3 h at most.",
    ]);
    expect(card).toContain("When: Outside: Temperature is below 3 °C for 1 min, over at 3.1 °C");
    expect(card).toContain("When it is over for 1 min, or after 3 h at the latest: Boiler: switch off.");
  });

  test("switching it off needs neither", async () => {
    const { automation, second_tap } = await home.drafted({
      ...LEAK,
      do: [{ agent_id: "boiler", action: "set", parameters: { on: false } }],
    });
    expect([automation.do[0]?.danger, automation.end, second_tap]).toEqual([undefined, [], []]);
    expect(
      await home.error({
        ...LEAK,
        over: "undo",
        do: [{ agent_id: "boiler", action: "set", parameters: { on: false } }],
      }),
    ).toEqual([
      "over: 'undo' cannot bring back do.0 (set): a person has to be asked for the way back. Use leave or off",
    ]);
  });

  test("a siren sounds for 5 min at most", async () => {
    const { automation, second_tap } = await home.drafted({
      name: "Leak!",
      when: wet,
      do: [{ agent_id: "siren", action: "sound" }],
    });
    expect(automation).toMatchObject({
      do: [{ danger: "noise" }],
      end: [{ action: "stop" }],
      at_most_minutes: 5,
    });
    expect(second_tap).toEqual(["Siren: sound: it is loud."]);
  });

  test("a way in asks at that moment, and closing it takes a second tap; locking takes none", async () => {
    const of = (agent_id: string, action: string) =>
      home.drafted({ name: "X", when: wet, do: [{ agent_id, action }] });
    const open = await of("garage", "open");
    expect([open.automation.do[0]?.danger, open.second_tap]).toEqual(["way_in", []]);
    expect(open.card[2]).toBe("Then: Garage: open (asks you at that moment)");
    expect(open.card.join(" ")).toContain("but for the steps that need the gateway");
    expect((await of("garage", "close")).second_tap).toEqual([
      "Garage: close: people, animals or a car may be in the way.",
    ]);
    expect((await of("front-lock", "lock")).automation.do[0]).not.toHaveProperty("danger");
    expect((await of("front-lock", "unlock")).automation.do[0]).toMatchObject({ danger: "way_in" });
    const film = await of("film", "activate");
    expect(film.card[2]).toBe("Then: Film: start (it cannot say whether it worked)");
  });

  test("water runs for 3 h at most, and gas opens for a person alone", async () => {
    const open = (agent_id: string) =>
      home.drafted({ name: "Garden", at: "06:00", do: [{ agent_id, action: "open" }], at_most_minutes: 20 });
    const water = await open("main-water");
    expect(water.automation).toMatchObject({
      do: [{ danger: "heat" }],
      end: [{ action: "close" }],
      at_most_minutes: 20,
    });
    expect(water.second_tap).toEqual([
      "Main water: open: it heats or pumps while nobody looks on, for 20 min at most.",
    ]);
    home.config("valve", "gas", "Gas", { command_topic: "gas/set", device_class: "gas", name: null });
    home.update();
    expect((await open("gas")).automation.do[0]).toMatchObject({ danger: "way_in" });
  });
});
