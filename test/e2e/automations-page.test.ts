/** The five rules of docs/using/automations.md, in the demo home: said as the page says them, allowed on the card, and each acts and is told. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextMoment } from "@edgecall/core/automations/times.ts";
import { HOUR_MS } from "@edgecall/core/time/zone.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import { byClock } from "../clock.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { ACTS_WITHIN_MS, ActingRules } from "./acting-rules.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const PAGE = readFileSync(join(ROOT, "docs/using/automations.md"), "utf8");
/** The sentences of the page's table. */
const [LEAK = "", HEATING = "", LIGHT_OFF = "", SUNSET = "", DOOR = ""] = [
  ...PAGE.matchAll(/^\| (When .*?|Turn .*?)\s*\|/gm),
].map(([, sentence = ""]) => sentence);

/** What the page says in minutes is seconds with the short clock. */
const shortened = (sentence: string) => byClock(sentence, sentence.replace(/\d+ minutes/, "3 seconds"));
const minutes = (count: number) => byClock(count, 0.05);

/** A zone in which it is between 22:00 and 6:00 for the next hours. */
const ZONE = `Etc/GMT${nightOffset(new Date().getUTCHours())}`;
/** All rules are made before the sun sets there. */
const SUNSET_IN_MS = 80_000;
const PLACE = `0, ${placeOf(Date.now() + SUNSET_IN_MS).toFixed(1)}`;

/** "+5" is behind UTC in these names. */
function nightOffset(hour: number): string {
  // At 23:00 there.
  const ahead = (23 - hour + 24) % 24;
  return ahead <= 14 ? `-${ahead}` : `+${24 - ahead}`;
}

/** The degree at which the sun sets first after this moment. */
function placeOf(wanted: number): number {
  let best = { lon: 0, late: Number.POSITIVE_INFINITY };
  for (let tenth = -1_800; tenth <= 1_800; tenth += 1) {
    const at = { of: "sunset" as const, minutes: 0 };
    const moment = nextMoment({ at, zone: ZONE, place: { lat: 0, lon: tenth / 10 } }, wanted);
    const late = (moment?.at ?? wanted + HOUR_MS) - wanted;
    if (late < best.late) best = { lon: tenth / 10, late };
  }
  return best.lon;
}

const folder = mkdtempSync(join(tmpdir(), "edgecall-automations-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a model makes of the sentences that are more than a condition and its acts. */
const MODELS: Record<string, object> = {
  [HEATING]: {
    name: "Door open, heating down",
    when: [
      { agent_id: "door-contact", reading: "door", is: "equal", value: "open", for_minutes: minutes(5) },
    ],
    only_if: "nobody_home",
    do: [{ agent_id: "living-room-heating", action: "set", parameters: { temperature: 17 } }],
    over: "undo",
    say: "The door is open and nobody is home.",
  },
  [SUNSET]: {
    name: "Light at sunset",
    at: "sunset",
    do: [{ agent_id: "ceiling-light", action: "set", parameters: { on: true } }],
  },
  [DOOR]: {
    name: "Door open at night",
    when: [
      { agent_id: "door-contact", reading: "door", is: "equal", value: "open", for_minutes: minutes(3) },
    ],
    only_between: "22:00-06:00",
    do: [{ agent_id: "hall-light", action: "set", parameters: { on: true } }],
    over: "off",
    say: "The door is open.",
  },
};

describe("the five rules of the page", { timeout: 900_000 }, () => {
  const bridge = { BRIDGE_STATE: folder, PRESENCE: "Phone=phone:Home", PLACE };
  const stack = useStack({ vars: { ...RULE_VARS, TIMEZONE: ZONE }, bridge });
  const rules = new ActingRules(() => stack.gateway);
  const told = new HomeRules(stack);
  /** By the sentence: the conversation in which it was said, and the rule's name. */
  const made = new Map<string, string>();
  const names = new Map<string, string>();
  let house: DemoHome;

  beforeAll(async () => {
    house = await startDemoHome({ url: stack.mqttUrl, seed: 4 });
    await furnish({ url: stack.gateway.url, token: TOKENS.owner });
    // Nobody comes in, and opens the door for others.
    house.happen("all leave");
    for (const [text, rule] of Object.entries(MODELS))
      stack.model.written.set(text, [
        { calls: [{ name: "automate", arguments: rule }] },
        { text: "It waits for the card." },
      ]);
  }, 120_000);
  afterAll(() => house?.stop());

  test.each([
    [LEAK, "water-valve", [/Leak sensor/, /Water valve.*close/]],
    [HEATING, "living-room-heating", [/Door contact.*open/, /Phone/, /17/, /back/]],
    [LIGHT_OFF, "hall-light", [/Hall motion/, /Hall light.*off/]],
    [SUNSET, "ceiling-light", [/sunset/, /Ceiling light/]],
    [DOOR, "hall-light", [/Door contact/, /22:00/, /Hall light/, /off/]],
  ])("“%s” is a card that says all of it, and an owner allows it", async (sentence, changed, words) => {
    const said = sentence in MODELS ? sentence : shortened(sentence);
    const conversation = crypto.randomUUID();
    const before = (await rules.list()).length;
    const turn = await stack.gateway.begin(said, conversation);
    const question = await stack.gateway.question(conversation);
    // SAFETY: the gateway wrote it (`ApprovalCard`).
    const { card } = question.approval as unknown as { card: { lines: string[] } };
    const shown = [question.text, ...card.lines].join("\n");
    for (const word of words) expect.soft(shown).toMatch(word);
    expect(await rules.list()).toHaveLength(before);
    await stack.gateway.answer(question.id, "approve");
    await stack.gateway.settled(conversation, turn);
    expect(await rules.list()).toHaveLength(before + 1);
    const rule = (await rules.list()).at(-1);
    expect(rule).toMatchObject({ status: "active", changes: [changed] });
    made.set(sentence, conversation);
    names.set(sentence, rule?.name ?? "");
  });

  const ruleOf = async (sentence: string) => {
    const name = names.get(sentence);
    return (await rules.list()).find((one) => one.name === name);
  };
  const within = { within: byClock(900_000, ACTS_WITHIN_MS), every: 250 };
  const armed = (sentence: string) =>
    until(async () => (await ruleOf(sentence))?.now?.state === "armed", {
      ...within,
      what: `“${sentence}” waits for its step`,
    });
  const ran = (sentence: string, state = "done") =>
    until(
      async () => {
        const run = (await ruleOf(sentence))?.now?.runs[0];
        return run?.state === state ? run : undefined;
      },
      { ...within, what: `“${sentence}” is ${state}` },
    );
  const is = (so: () => boolean | undefined, what: string) => until(so, { ...within, what });

  test("water leaks: the valve is closed, and reports it", async () => {
    await armed(LEAK);
    house.happen("leak");
    const run = await ran(LEAK);
    expect(house.get("Water valve").open).toBe(false);
    expect(run.because.join()).toMatch(/Leak sensor.*wet/);
    expect(run.steps).toMatchObject([{ outcome: "confirmed" }]);
    house.happen("leak dried");
  });

  test("the door is open at night and nobody is home: light and heating, both told; closed again, both are as before", async () => {
    await until(async () => (await rules.all()).presence?.home === "nobody", {
      ...within,
      what: "nobody is home",
    });
    await Promise.all([armed(HEATING), armed(DOOR)]);
    const before = house.get("Living room heating").setpoint;
    expect(house.get("Hall light").on).toBe(false);
    house.change("Door contact", { open: true });
    await is(() => house.get("Hall light").on, "the light is on");
    await is(() => house.get("Living room heating").setpoint === 17, "the heating is down");
    expect((await ran(HEATING, "running")).because.join()).toMatch(/Door contact.*open/);
    const said = async (sentence: string) => (await told.toldCount(made.get(sentence) ?? "", 1)).join("\n");
    expect(await said(HEATING)).toContain("The door is open and nobody is home.");
    expect(await said(DOOR)).toContain("The door is open.");
    house.change("Door contact", { open: false });
    await is(() => house.get("Living room heating").setpoint === before, "the heating is as before");
    await is(() => house.get("Hall light").on === false, "the light is off");
    for (const sentence of [HEATING, DOOR]) {
      const run = await ran(sentence, sentence === HEATING ? "undone" : "done");
      expect(run.steps.map(({ outcome }) => outcome)).toEqual(["confirmed", "confirmed"]);
    }
  });

  test("nobody moves in the hall: the light goes off; undone, it is on again", async () => {
    house.change("Hall light", { on: true });
    house.change("Hall motion", { isOccupied: true });
    await armed(LIGHT_OFF);
    house.change("Hall motion", { isOccupied: false });
    await is(() => house.get("Hall light").on === false, "the light is off");
    const run = await ran(LIGHT_OFF);
    expect(run.undo).toBe(true);
    const rule = await ruleOf(LIGHT_OFF);
    const undone = await stack.gateway.fetch(`/v1/automations/${rule?.id}/undo`, {
      method: "POST",
      body: JSON.stringify({ firing: run.firing }),
    });
    expect(await undone.json()).toMatchObject({ confirmed: true });
    expect(house.get("Hall light").on).toBe(true);
    await ran(LIGHT_OFF, "undone");
  });

  test("the sun sets: the ceiling light is on", async () => {
    await until(() => house.get("Ceiling light").on, {
      within: SUNSET_IN_MS + ACTS_WITHIN_MS,
      every: 250,
      what: "the ceiling light is on",
    });
    expect((await ran(SUNSET)).steps).toMatchObject([{ outcome: "confirmed" }]);
  });
});
