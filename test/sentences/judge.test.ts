import { describe, expect, it } from "vitest";
import { demoHome } from "./homes.ts";
import { type Got, judge } from "./judge.ts";
import { act, ask, both, type Expected, is, remind, set, which } from "./meaning.ts";

const HOME = demoHome("en");
const KITCHEN = ["Kitchen light", "Counter light"];
const asking: Got = { acts: [{ do: "off", to: ["light@Kitchen"], asksWhich: true }] };

describe("a sentence is judged", () => {
  it.each<[string, Expected, Got, "right" | "passed" | "wrong"]>([
    ["the same act", act("off", "TV"), act("off", "TV"), "right"],
    ["another device", act("off", "TV"), act("off", "Dryer"), "wrong"],
    ["one device too many", act("off", "TV"), act("off", "TV", "Dryer"), "wrong"],
    ["one device too few", act("off", ...KITCHEN), act("off", "Kitchen light"), "wrong"],
    ["another action", act("off", "TV"), act("on", "TV"), "wrong"],
    ["another value", set("brightness", 40, "Desk lamp"), set("brightness", 4, "Desk lamp"), "wrong"],
    [
      "a value whose setting was not said",
      set("brightness", 40, "Desk lamp"),
      { acts: [{ do: "set", to: ["Desk lamp"], value: 40 }] },
      "right",
    ],
    ["the lights of a room", act("off", ...KITCHEN), act("off", "light@Kitchen"), "right"],
    ["all lights for those of a room", act("off", ...KITCHEN), act("off", "light"), "wrong"],
    ["one of two that is asked back", which("off", ...KITCHEN), asking, "right"],
    ["one of two that is not asked back", which("off", ...KITCHEN), act("off", "light@Kitchen"), "wrong"],
    ["a question back where none was needed", act("off", ...KITCHEN), asking, "passed"],
    [
      "two acts in one",
      act("off", "TV", "Dryer"),
      { acts: [...actsOf("off", "Dryer"), ...actsOf("off", "TV")] },
      "right",
    ],
    ["half of two acts", both(act("off", "TV"), act("lock", "Front door")), act("off", "TV"), "wrong"],
    ["a question", is("locked", "Front door"), is("locked", "Front door"), "right"],
    ["a question taken for an act", is("locked", "Front door"), act("lock", "Front door"), "wrong"],
    ["another state", is("locked", "Front door"), is("unlocked", "Front door"), "wrong"],
    [
      "a reading of a room",
      ask("humidity", "Bathroom sensor"),
      { ask: "humidity", of: ["*@Bathroom"] },
      "right",
    ],
    [
      "a reading of another room",
      ask("humidity", "Bathroom sensor"),
      { ask: "humidity", of: ["*@Kitchen"] },
      "wrong",
    ],
    ["another time", remind({ in: 60 }, "tea"), remind({ in: 3600 }, "tea"), "wrong"],
    ["a reminder without its words", remind({ in: 60 }, "tea"), remind({ in: 60 }, ""), "wrong"],
    ["one of several meanings", [is("open", "TV"), is("on", "TV")], is("on", "TV"), "right"],
    ["nothing understood", act("off", "TV"), "passed", "passed"],
    ["nothing to do, and nothing done", "nothing", "passed", "right"],
    ["nothing to do, and an answer", "nothing", is("on", "TV"), "wrong"],
    ["nothing to do, and a question back", "nothing", asking, "wrong"],
    ["either, and an answer", "either", is("on", "TV"), "right"],
    ["either, and a reminder", "either", remind({ in: 60 }), "wrong"],
    ["no act, and a reminder", "no act", remind({ in: 60 }), "right"],
    ["no act, and an act", "no act", act("on", "TV"), "wrong"],
  ])("%s", (_, expected, got, verdict) => {
    expect(judge(expected, got, HOME)).toBe(verdict);
  });
});

function actsOf(...args: Parameters<typeof act>) {
  const meaning = act(...args);
  return "acts" in meaning ? meaning.acts : [];
}
