/** What a card says of a rule's last week, and of the rules that it acts on. */
import type { Sample } from "@edgecall/core/history/sample.ts";
import { DAY_MS, HOUR_MS } from "@edgecall/core/time/zone.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { DraftHome, LEAK, LIGHT_OFF, NOW } from "./testkit/draft-home.ts";

let home: DraftHome;
beforeEach(() => {
  home = new DraftHome();
});

const lightOn = {
  name: "Motion, light on",
  when: [{ agent_id: "hall-motion", reading: "motion", is: "equal", value: "motion detected" }],
  do: [{ agent_id: "hall-light", action: "set", parameters: { on: true } }],
};

function kept(samples: Sample[], since = NOW - 30 * DAY_MS) {
  return async () => ({ samples, gaps: [], since });
}

describe("the last week", () => {
  const wet = (days: number): Sample[] => [
    { at: NOW - days * DAY_MS, value: true },
    { at: NOW - days * DAY_MS + HOUR_MS, value: false },
  ];
  const dry = { at: NOW - 8 * DAY_MS, value: false };

  test("the card says when it would have run", async () => {
    home.kept = kept([dry, ...wet(5), ...wet(2)]);
    const { card } = await home.drafted(LEAK);
    expect(card.join("\n")).toMatch(/would have run 2 times: Mon(day)?.* 12:00.*Thu(day)?.* 12:00/);
  });

  test("where too little is kept it says nothing of it", async () => {
    home.kept = kept([dry], NOW - HOUR_MS);
    expect((await home.drafted(LEAK)).card.join("\n")).not.toMatch(/would/);
    home.kept = async () => undefined;
    expect((await home.drafted(LEAK)).card.join("\n")).not.toMatch(/would/);
  });
});

describe("rules that act on each other", () => {
  test("one that would run on and on is not made", async () => {
    const again = {
      ...lightOn,
      when: [{ agent_id: "hall-light", reading: "switch", is: "equal", value: "on" }],
    };
    expect((await home.error(again)).join()).toMatch(/makes its own condition true again.*for_minutes/);
  });

  test("two against each other are named on the card, by the name of the other", async () => {
    home.rules = [(await home.drafted(LIGHT_OFF)).automation].map((rule) => ({ ...rule, id: "a-9999" }));
    const { card } = await home.drafted(lightOn);
    expect(card.join("\n")).toContain(home.rules[0]?.name);
  });
});
