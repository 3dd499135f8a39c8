import { expect, test } from "vitest";
import { corrected, ruleWish, timeIn } from "./rule-words.ts";
import { readQuestion } from "./words.ts";

const LINES = {
  freezer: "sensor (temperature) [has no model, only actions: read]",
  garden: "garden house: temperature [has no model, only actions: cpu, disk, temperature]",
  gate: "sensor (occupancy) [has no model, only actions: read]",
  window: "sensor (window) [has no model, only actions: read]",
};
const EDGE_CALL = {
  name: "edge_call",
  description: [
    "Call an edge agent. Online edge agents:",
    ...Object.entries(LINES).map(([id, line]) => `  - ${id}: ${line}`),
  ].join("\n"),
  parameters: {
    type: "object",
    properties: { agent_id: { type: "string", enum: [...Object.keys(LINES), "any"] } },
    required: ["agent_id"],
  },
};
const rule = (name: string) => ({ name, description: "", parameters: {} });
const TOOLS = [EDGE_CALL, rule("remind"), rule("watch")];
const NOW = new Date("2026-11-24T19:12:00Z");
const wish = (text: string) => ruleWish(readQuestion(text), TOOLS, NOW);
const call = (text: string) => {
  const found = wish(text);
  return found && "calls" in found ? [found.name, ...found.calls] : found;
};

test.each([
  [
    "Tell me when the freezer is above −15.",
    { name: "Freezer is above −15", agent_id: "freezer", reading: "temperature", is: "above", value: -15 },
  ],
  [
    "Is anybody still at the gate? Tell me until I answer.",
    {
      name: "Anybody still at the gate",
      agent_id: "gate",
      reading: "occupancy",
      is: "equal",
      value: true,
      repeat: "until_ack",
    },
  ],
  [
    "Warn me if the garden is colder than 2,5 for more than 10 minutes",
    {
      name: "Garden is colder than 2,5 for more than 10 minutes",
      agent_id: "garden",
      reading: "temperature",
      is: "below",
      value: 2.5,
      for_minutes: 10,
    },
  ],
  [
    "let me know when the window opens",
    { name: "Window opens", agent_id: "window", reading: "window", is: "equal", value: "open" },
  ],
  [
    "Tell me when the garden is offline",
    { name: "Garden is offline", agent_id: "garden", reading: "presence", is: "offline" },
  ],
])("%s", (text, args) => {
  expect(call(text)).toEqual(["watch", args]);
});

test.each([
  [
    "Every morning at 8 the garden's temperature.",
    { text: "The garden's temperature", every: "day", at: "08:00", do: "brief" },
  ],
  ["Remind me in 10 minutes to check the oven", { text: "Check the oven", in_minutes: 10 }],
  ["Remind me of the tea in half an hour.", { text: "The tea", in_minutes: 30 }],
  ["Remind me every evening at 9 to lock the door", { text: "Lock the door", every: "day", at: "21:00" }],
  [
    "Remind me every Monday at 7:30 to put out the bin",
    { text: "Put out the bin", every: "week", at: "07:30", days: ["mo"] },
  ],
  ["Remind me at 20:00 to call Ben", { text: "Call Ben", at_date: "2026-11-24 20:00" }],
  ["Remind me at 18:00 to call Ben", { text: "Call Ben", at_date: "2026-11-25 18:00" }],
  ["Remind me tomorrow at 9 pm to call Ben", { text: "Call Ben", at_date: "2026-11-25 21:00" }],
])("%s", (text, args) => {
  expect(call(text)).toEqual(["remind", args]);
});

test("what a sentence does not say is asked for", () => {
  expect(wish("Tell me when it is above 30")).toEqual({
    missing: "Name the device to watch: freezer, garden, gate, window.",
  });
  expect(wish("Remind me to call Ben")).toEqual({ missing: expect.stringContaining("Say when") });
});

test.each(["How warm is the freezer?", "Tell me about the garden", "Is the window open?"])(
  "a question is no rule: %s",
  (text) => {
    expect(wish(text)).toBeUndefined();
  },
);

test("without the tools no rule is made", () => {
  expect(ruleWish(readQuestion("Tell me when the freezer is above -15"), [EDGE_CALL], NOW)).toBeUndefined();
});

test.each([
  [
    { reading: "x" },
    "Error: reading: Freezer has no reading 'x'. It has: temperature (°C), door. Nothing was done.",
    { reading: "door" },
  ],
  [
    { reading: "temperature" },
    "Error: field: 'temperature' of Pi has several values, name one: cpu.celsius (°C), door.open. Nothing was done.",
    { reading: "temperature", field: "door.open" },
  ],
  [
    { value: "closed" },
    "Error: value: window is open or closed, not 'closed'. Nothing was done.",
    { value: "closed" },
  ],
  [{ value: true }, "Error: value: gate is a text, not 'true'. Nothing was done.", { value: "somebody" }],
  [{ value: 3 }, "Error: is: gate is no number; use 'equal', as in somebody. Nothing was done.", undefined],
])("%j is tried again by the gateway's words: %s", (args, error, again) => {
  expect(corrected(readQuestion("Tell me when the freezer's door is open"), args, error)).toEqual(again);
});

test("the prompt's time is the home's", () => {
  expect(timeIn("Answer briefly.\n\nIt is Tue 24 Nov 2026, 19:12 (Europe/Berlin) in a.")).toEqual(NOW);
  expect(timeIn("Answer briefly.")).toBeUndefined();
});
