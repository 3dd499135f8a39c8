/** A condition and its acts as one call of the tool of rules that act, with devices as real configs make them. */
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { expect, test } from "vitest";
import { contextOf, lexicon, table } from "../../../../test/home-of-configs.ts";
import { actingRuleCalls } from "./acting-rules.ts";

async function madeOf(text: string): Promise<unknown> {
  const read = readSentence(text, table, [lexicon]);
  if (read.result !== "none" || read.reason.because !== "condition" || !read.reason.rule) return read;
  const made = await actingRuleCalls(read.reason.rule, contextOf(text));
  return "calls" in made ? made.calls : made;
}

test("a condition with its hold, and an action with its values", async () => {
  const text = "When the kitchen window is open for 5 minutes, set the living room heating to 17 degrees.";
  expect(await madeOf(text)).toEqual([
    {
      name: "automate",
      args: {
        name: text.slice(0, 60),
        when: [expect.objectContaining({ agent_id: "kitchen-window", is: "equal", for_minutes: 5 })],
        do: [{ agent_id: "living-room-heating", action: "set", parameters: { temperature: 17 } }],
      },
    },
  ]);
});

test("several acts are steps in their order", async () => {
  const [call] = (await madeOf(
    "if the kitchen window opens, turn off the counter light and turn on the reading lamp",
  )) as Array<{ args: { do: unknown } }>;
  expect(call?.args.do).toEqual([
    { agent_id: "counter-light", action: "set", parameters: { on: false } },
    { agent_id: "reading-lamp", action: "set", parameters: { on: true } },
  ]);
});

test("one of several windows: any of them", async () => {
  const [call] = (await madeOf("when a window opens turn off the living room heating")) as Array<{
    args: { match: string; when: Array<{ agent_id: string }> };
  }>;
  expect(call?.args.match).toBe("any");
  expect(call?.args.when.length).toBeGreaterThan(1);
});

test.each([
  ["when the kitchen window opens make the kitchen light brighter", "did not understand"],
  ["when the kitchen window opens turn off the light in the kitchen", "Which one?"],
  ["when the kitchen window opens lock the fridge", "cannot do that"],
])("%s: %s", async (text, words) => {
  expect(await madeOf(text)).toMatchObject({ problem: { text: expect.stringContaining(words) } });
});
