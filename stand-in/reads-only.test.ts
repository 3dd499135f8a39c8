/** N1: what a question may cause. */
import { describe, expect, test } from "vitest";
import { isRead } from "./orders.ts";
import { replyTo } from "./reply.ts";
import { chatRequest } from "./request.ts";

type Json = Record<string, unknown>;

const only = (actions: string) => `[has no model, only actions: ${actions}]`;
const HOME: Record<string, string> = {
  "front-door": `Front door: lock (lock, battery) · Hall ${only("lock, open, read, unlock")}`,
  "back-door": `Back door: lock (lock) · Kitchen ${only("lock, open, read, unlock")}`,
  "kitchen-lamp": `Kitchen lamp: light (brightness) · Kitchen ${only("read, set_brightness, turn_off, turn_on")}`,
  garage: `Garage: cover (garage_door) ${only("close, open, read, stop")}`,
  heating: `Heating: climate (temperature) ${only("read, set, turn_off")}`,
  "this-machine":
    "sensor node — temperature, CPU/memory/disk stats [actions: cpu, disk, memory, temperature]",
};

const function_ = (name: string, description: string, parameters: Json) => ({
  type: "function",
  function: { name, description, parameters },
});
const edgeCall = (lines: Record<string, string>) =>
  function_(
    "edge_call",
    [
      "Call an edge agent. Online edge agents:",
      ...Object.entries(lines).map(([id, line]) => `  - ${id}: ${line}`),
    ].join("\n"),
    {
      type: "object",
      properties: {
        agent_id: { type: "string", enum: [...Object.keys(lines), "any"] },
        query: { type: "string" },
        action: { type: "string" },
        params: { type: "object" },
      },
      required: ["agent_id"],
    },
  );
const rules = ["watch", "remind"].map((name) => function_(name, "Makes a rule.", { type: "object" }));

function reply(question: string, tools: unknown[]) {
  const request = chatRequest.parse({ model: "m", messages: [{ role: "user", content: question }], tools });
  const { text, calls } = replyTo(request);
  return {
    text,
    calls: calls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) as Json })),
  };
}

const homes: Array<[name: string, lines: Record<string, string>]> = [
  ["the whole home", HOME],
  ...Object.entries(HOME).map(([id, line]): [string, Record<string, string>] => [
    `${id} alone`,
    { [id]: line },
  ]),
];

const THINGS = [
  "the front door",
  "the back door",
  "the kitchen lamp",
  "the garage",
  "the heating",
  "the freezer",
];
const STATES = ["locked", "unlocked", "open", "closed", "on", "off", "set to 21", "turned on", "stopped"];
const QUESTIONS = [
  ...THINGS.flatMap((thing) =>
    STATES.flatMap((state) => [
      `Is ${thing} ${state}?`,
      `is ${thing} ${state}`,
      `Can you tell me if ${thing} is ${state}?`,
      `tell me whether ${thing} is ${state}`,
      `How do I know that ${thing} is ${state}?`,
      `Why is ${thing} ${state}?`,
      `Was ${thing} ${state} at noon?`,
      `${thing} ${state}?`,
      `I wonder if ${thing} is ${state}`,
      `check that ${thing} is ${state}`,
      `Show me when ${thing} was ${state}`,
      `Has anybody left ${thing} ${state}?`,
      `Ist ${thing} ${state}?`,
      `Don't leave ${thing} ${state}`,
    ]),
  ),
  ...["lock", "unlock", "open", "close", "stop", "turn on", "turn off", "set"].flatMap((verb) =>
    THINGS.flatMap((thing) => [
      `Can you ${verb} ${thing}?`,
      `Could you ${verb} ${thing}`,
      `Should I ${verb} ${thing}?`,
      `Who can ${verb} ${thing}?`,
      `How do I ${verb} ${thing}`,
      `Do not ${verb} ${thing}`,
      `${verb} ${thing} if it rains`,
      `When did somebody ${verb} ${thing}?`,
      `${verb} ${thing}?`,
    ]),
  ),
];

describe.each(homes)("N1: a question only reads: %s", (_, lines) => {
  test(`N1: ${QUESTIONS.length} questions publish no command and watch nothing`, () => {
    const tools = [edgeCall(lines), ...rules];
    const wrong = QUESTIONS.flatMap((question) =>
      reply(question, tools)
        .calls.filter(
          ({ name, args }) =>
            name !== "edge_call" || (args.action !== undefined && !isRead(String(args.action))),
        )
        .map(({ name, args }) => `${question} → ${name} ${JSON.stringify(args)}`),
    );
    expect(wrong).toEqual([]);
  });
});

test("N1: a device's own loop runs only reads for a question", () => {
  const tools = ["lock", "unlock", "open", "turn_on", "gpio_write", "shutdown", "greet"].map((name) =>
    function_(name, `Does ${name} to the front door, the back door and the heating.`, { type: "object" }),
  );
  expect(
    QUESTIONS.filter((question) => reply(question, tools).calls.length > 0 && /[?]|^is /.test(question)),
  ).toEqual([]);
  expect(reply("Lock the front door", tools).calls).toEqual([{ name: "lock", args: {} }]);
});

test.each([
  ["Is the front door locked?", "front-door", "read"],
  ["is the garage open", "garage", "read"],
  ["How bright is the kitchen lamp?", "kitchen-lamp", "read"],
])("N1: %s is read", (question, agent_id, action) => {
  expect(reply(question, [edgeCall(HOME), ...rules]).calls).toEqual([
    { name: "edge_call", args: { agent_id, action } },
  ]);
});

test.each([
  ["Lock the front door", "front-door", "lock"],
  ["please unlock the back door.", "back-door", "unlock"],
  ["Turn the kitchen lamp off", "kitchen-lamp", "turn_off"],
  ["Turn on the kitchen lamp", "kitchen-lamp", "turn_on"],
  ["Close the garage", "garage", "close"],
])("N1: an order that names device and action is one command: %s", (question, agent_id, action) => {
  expect(reply(question, [edgeCall(HOME), ...rules]).calls).toEqual([
    { name: "edge_call", args: { agent_id, action } },
  ]);
});

test.each([
  "Lock the door",
  "Lock the shed",
  "Open the lock",
  "Turn up the kitchen lamp",
  "Lock up",
  "Lock the garage",
])("N1: what is not clear, or not there, is no command: %s", (question) => {
  for (const [, lines] of homes) {
    const { calls } = reply(question, [edgeCall(lines), ...rules]);
    const isOne = question === "Lock the door" && Object.keys(lines).length === 1;
    if (!isOne) expect(calls.filter(({ args }) => !isRead(String(args.action ?? "read")))).toEqual([]);
  }
});

describe("N1: a watch takes the reading that the sentence means, or none", () => {
  const MACHINE = "machine (cpu usage, temperature, disk usage)";
  const watch = (question: string, line: string) => reply(question, [edgeCall({ pi: line }), ...rules]);

  test("N1: hotter than 60 is a temperature, and never CPU usage", () => {
    const { calls } = watch("Tell me when the pi gets hotter than 60", `${MACHINE} [actions: cpu, disk]`);
    expect(calls).toMatchObject([
      { name: "watch", args: { reading: "temperature", is: "above", value: 60 } },
    ]);
  });

  test.each([
    ["Tell me when the pi is hotter than 60", "machine (cpu usage, disk usage)"],
    ["Tell me when the pi's CPU usage is hotter than 60 degrees", "machine (cpu usage, disk usage)"],
    ["Tell me when the humidity of the pi is above 60", "machine (cpu usage, disk usage)"],
    ["Tell me when the pi is above 60", "machine (cpu usage, disk usage)"],
    ["Tell me when the pi is unlocked", "machine (cpu usage, disk usage)"],
  ])("N1: %s: it says what there is", (question, line) => {
    const { text, calls } = watch(question, line);
    expect(calls).toEqual([]);
    expect(text).toContain("cpu usage, disk usage");
  });

  test("N1: another quantity than the only one there is", () => {
    expect(watch("Tell me when the humidity of the pi is above 60", "sensor (temperature)").calls).toEqual(
      [],
    );
    expect(watch("Tell me when the pi is above 60", "sensor (temperature)").calls).toHaveLength(1);
  });

  test("N1: the gateway's list of readings is not taken from the top", () => {
    const question = "Tell me when the pi is hotter than 60";
    const request = chatRequest.parse({
      model: "m",
      tools: [edgeCall({ pi: "machine" }), ...rules],
      messages: [
        { role: "user", content: question },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "1", function: { name: "watch", arguments: '{"reading":"temperature"}' } }],
        },
        {
          role: "tool",
          tool_call_id: "1",
          content:
            "Error: reading: Pi has no reading 'temperature'. It has: CPU usage (%), disk usage (%). Did you mean 'CPU usage'? Nothing was done.",
        },
      ],
    });
    const { calls, text } = replyTo(request);
    expect(calls).toEqual([]);
    expect(text).toContain("has no reading 'temperature'");
    expect(text).not.toContain("It is set");
  });
});
