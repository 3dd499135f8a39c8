import fc from "fast-check";
import { expect, test } from "vitest";
import { replyTo } from "./reply.ts";
import { chatRequest } from "./request.ts";

type Json = Record<string, unknown>;
const none = { type: "object", properties: {}, additionalProperties: false };
const tool = (name: string, description: string, parameters: Json = none) => ({
  type: "function",
  function: { name, description, parameters },
});

const path = { type: "string", description: "absolute path of a file" };
const DEVICE = [
  tool("cpu", "How busy the processor is: load averages and use since the last look."),
  tool("disk", "Size, use and free space of a mounted file system.", {
    type: "object",
    properties: { path: { type: "string", default: "/", description: "a path on the file system" } },
  }),
  tool("list_processes", "Running processes, those that use most first.", {
    type: "object",
    properties: {
      sort: { type: "string", enum: ["cpu", "memory"], default: "cpu" },
      limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
    },
  }),
  tool("memory", "Total, used and available memory and swap."),
  tool("network_info", "Network interfaces with their addresses and traffic."),
  tool("read", "Reads a text file.", {
    type: "object",
    properties: { path, offset: { type: "integer" }, limit: { type: "integer" } },
    required: ["path"],
  }),
  tool("system_info", "Host name, model, operating system, kernel and time since boot."),
  tool("temperature", "Reads the temperature sensors of this machine."),
];

const edgeCall = (lines: Record<string, string>) =>
  tool(
    "edge_call",
    [
      "Call an edge agent to handle a query using its own tools and sensors. Online edge agents:",
      ...Object.entries(lines).map(([id, line]) => `  - ${id}: ${line}`),
    ].join("\n"),
    {
      type: "object",
      properties: {
        agent_id: { type: "string", description: "ID of the target edge agent", enum: Object.keys(lines) },
        query: { type: "string", description: "natural language query (agent handles routing)" },
        action: { type: "string", description: "optional: specific action name for structured calls" },
        params: { type: "object", description: "optional: parameters for the structured action" },
      },
      required: ["agent_id"],
      additionalProperties: false,
    },
  );
const ACTIONS = "[actions: cpu, disk, list_processes, memory, network_info, read, system_info, temperature]";
const ONE = [edgeCall({ "this-machine": `sensor node — temperature, CPU/memory/disk stats ${ACTIONS}` })];
const TWO = [
  edgeCall({
    "pi-7": `Living room: temperature and humidity ${ACTIONS}`,
    "pi-9": `NAS in the cellar: disks and backups ${ACTIONS}`,
  }),
];

function calls(question: string, tools: unknown[], system = "Answer briefly."): Array<[string, Json]> {
  const request = chatRequest.parse({
    model: "stand-in",
    messages: [
      { role: "system", content: system },
      { role: "user", content: question },
    ],
    tools,
  });
  return replyTo(request).calls.map((call) => [call.name, JSON.parse(call.arguments)]);
}

test.for<[question: string, ...expected: Array<[string, Json]>]>([
  ["How full is the root disk?", ["disk", {}]],
  ["how full is /home", ["disk", { path: "/home" }]],
  ["What's the disk usage?", ["disk", {}]],
  ["Is there enough storage left?", ["disk", {}]],
  ["How much RAM is free?", ["memory", {}]],
  ["memory usage", ["memory", {}]],
  ["How full is the memory?", ["memory", {}]],
  ["How hot is it?", ["temperature", {}]],
  ["How many degrees do the sensors show?", ["temperature", {}]],
  ["Which are the busiest processes?", ["list_processes", {}]],
  ["Show the top 3 processes", ["list_processes", { limit: 3 }]],
  ["How busy is it?", ["cpu", {}], ["list_processes", { sort: "cpu" }]],
  ["What is the disk usage and which are the busiest processes?", ["disk", {}], ["list_processes", {}]],
  ["What is the uptime?", ["system_info", {}]],
  ["What is my IP address?", ["network_info", {}]],
  ["Read /etc/hostname.", ["read", { path: "/etc/hostname" }]],
  ["What does the file `/etc/my notes.txt` contain?", ["read", { path: "/etc/my notes.txt" }]],
  ["Read the temperature", ["temperature", {}]],
  ["What is the capital of France?"],
  ["Tell me a joke"],
  ["Read it to me"],
  [""],
])("device: %s", ([question, ...expected]) => {
  expect(calls(question, DEVICE)).toEqual(
    expected.map(([name, args]) => [
      name,
      name === "list_processes" ? expect.objectContaining(args.limit ? args : {}) : args,
    ]),
  );
});

test.for<[question: string, ...agents: string[]]>([
  ["How full is the root disk?", "pi-9"],
  ["How warm is it in the living room?", "pi-7"],
  ["Is the humidity too high?", "pi-7"],
  ["Did the backups run?", "pi-9"],
  ["How much memory does the NAS have?", "pi-9"],
  ["Compare the memory of pi-7 and pi-9", "pi-7", "pi-9"],
  ["What is the capital of France?"],
])("the agent whose line fits: %s", ([question, ...agents]) => {
  expect(calls(question, TWO)).toEqual(
    agents.map((agent_id) => ["edge_call", { agent_id, query: question }]),
  );
});

test("one agent is asked in the person's own words", () => {
  for (const question of ["How full is the root disk?", "is the cpu busy", "How hot is it in here?"]) {
    expect(calls(question, ONE)).toEqual([["edge_call", { agent_id: "this-machine", query: question }]]);
  }
});

test("an agent that has only actions is given one of them", () => {
  const tools = [
    edgeCall({ "old-pi": "Attic [has no model, only actions: disk, list_processes, temperature]" }),
  ];
  expect(calls("How hot is it in the attic?", tools)).toEqual([
    ["edge_call", { agent_id: "old-pi", action: "temperature" }],
  ]);
  expect(calls("Which processes run in the attic?", tools)).toEqual([
    ["edge_call", { agent_id: "old-pi", action: "list_processes" }],
  ]);
});

test("an agent that is offline is not replaced by another one", () => {
  const system =
    "Known edge agents that are offline and cannot be called:\n  - garage (last seen 3 min ago): temperature";
  const reply = replyTo(
    chatRequest.parse({
      model: "m",
      messages: [
        { role: "system", content: system },
        { role: "user", content: "How warm is it in the garage?" },
      ],
      tools: ONE,
    }),
  );
  expect(reply.calls).toEqual([]);
  expect(reply.text).toContain("garage (last seen 3 min ago)");
});

test("other tools: names as one word, enumerations, quoted strings, numbers, addresses", () => {
  const string = { type: "string" };
  const object = (properties: Json, required = Object.keys(properties)) => ({
    type: "object",
    properties,
    required,
  });
  const tools = [
    tool("websearch", "Finds pages.", object({ query: string })),
    tool("webfetch", "Gets a page.", object({ url: { type: "string", format: "uri" } })),
    tool("git_status", "Working tree.", none),
    tool("git_log", "Commits.", object({ count: { type: "integer" } }, [])),
    tool("git_diff", "Changes.", none),
    tool(
      "set_light",
      "Switches a light.",
      object({
        room: { type: "string", enum: ["kitchen", "hall"] },
        level: { type: "integer", minimum: 0, maximum: 100 },
      }),
    ),
    tool("bash", "Runs a shell command.", object({ command: string })),
  ];
  expect(calls("Search the web for tea pots", tools)).toEqual([
    ["websearch", { query: "Search the web for tea pots" }],
  ]);
  expect(calls("Fetch the web page https://example.org/a?b=c.", tools)).toEqual([
    ["webfetch", { url: "https://example.org/a?b=c" }],
  ]);
  expect(calls("show the git status", tools)).toEqual([["git_status", {}]]);
  expect(calls("git log, the last 5", tools)).toEqual([["git_log", { count: 5 }]]);
  expect(calls("Set the light in the kitchen to 40 please", tools)).toEqual([
    ["set_light", { room: "kitchen", level: 40 }],
  ]);
  expect(calls("Set the light in the kitchen to 400 please", tools)).toEqual([]);
  expect(calls("Set the light in the kitchen and the hall to 5", tools)).toEqual([
    ["set_light", { room: "kitchen", level: 5 }],
    ["set_light", { room: "hall", level: 5 }],
  ]);
  expect(calls("run the shell command `ls -la /tmp`", tools)).toEqual([["bash", { command: "ls -la /tmp" }]]);
  expect(calls("run a shell command", tools)).toEqual([]);
});

const answered = (results: Array<[name: string, args: Json, text: string]>, after: Json[] = []) =>
  replyTo(
    chatRequest.parse({
      model: "stand-in",
      messages: [
        { role: "user", content: "How full is the disk?" },
        {
          role: "assistant",
          content: null,
          tool_calls: results.map(([name, args], index) => ({
            id: `c${index}`,
            type: "function",
            function: { name, arguments: JSON.stringify(args) },
          })),
        },
        ...results.map(([, , content], index) => ({ role: "tool", tool_call_id: `c${index}`, content })),
        ...after,
      ],
      tools: DEVICE,
    }),
  );

test("the answer is what the results say", () => {
  expect(answered([["disk", {}, " / is 42 % full \n"]])).toEqual({ text: "/ is 42 % full", calls: [] });
  expect(
    answered([
      ["disk", {}, "/ is 42 % full"],
      ["edge_call", { agent_id: "nas" }, '{"status":"success","content":"all well"}'],
    ]).text,
  ).toBe("disk: / is 42 % full\n\nnas: all well");
});

test("a failed tool is told plainly and not tried again", () => {
  const reply = answered([["disk", {}, "Error: Tool 'disk' timed out after 30s."]]);
  expect(reply).toEqual({ text: "disk failed: Tool 'disk' timed out after 30s.", calls: [] });
  expect(answered([["disk", {}, '{"status":"error","error":"no such mount"}']]).text).toBe(
    "disk failed: no such mount",
  );
});

test("asked to sum up, it answers from what is there", () => {
  const note = { role: "user", content: "3 attempts in a row failed. Answer now, without tools: sum up." };
  expect(answered([["disk", {}, "42 %"]], [note])).toEqual({ text: "42 %", calls: [] });
});

test("when no tool fits it says so and names what is offered", () => {
  const request = { model: "m", messages: [{ role: "user", content: "Sing!" }], tools: [...DEVICE, ...ONE] };
  const { text } = replyTo(chatRequest.parse(request));
  expect(text).toContain("stand-in");
  for (const offered of ["disk", "temperature", "edge_call (this-machine)"]) expect(text).toContain(offered);
});

test("any schema and any question end in a reply with valid arguments", () => {
  const level = (inner: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
    fc.record(
      {
        type: fc.constantFrom(
          "string",
          "integer",
          "number",
          "boolean",
          "array",
          "object",
          "null",
          ["string", "null"],
          7,
        ),
        enum: fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }),
        properties: fc.dictionary(fc.constantFrom("path", "query", "limit", "a(b", "url"), inner, {
          maxKeys: 3,
        }),
        required: fc.array(fc.constantFrom("path", "query", "limit", "zz"), { maxLength: 3 }),
        items: inner,
        anyOf: fc.array(fc.oneof(inner, fc.constant(null)), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Json>;
  const schema = level(level(level(fc.constant({ type: "string" }))));
  const word = fc.constantFrom(
    "disk",
    "full",
    "/etc/x",
    "12",
    '"quoted"',
    "https://a.b",
    "pi-7",
    "garage",
    "(",
    "\\",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 12 }),
      fc.array(fc.tuple(fc.constantFrom("disk", "read_file", "a.b"), fc.string(), schema), { maxLength: 4 }),
      (words, tools) => {
        const question = words.join(" ");
        for (const [name, args] of calls(
          question,
          tools.map(([name, text, parameters]) => tool(name, text, parameters)),
        )) {
          expect(tools.map(([known]) => known)).toContain(name);
          expect(args).toBeTypeOf("object");
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("N10: what a tool tells a model alone is not quoted to the person", () => {
  const request = chatRequest.parse({
    model: "stand-in",
    messages: [
      { role: "user", content: "write it" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", function: { name: "edge_call", arguments: '{"agent_id":"pi"}' } }],
      },
      {
        role: "tool",
        tool_call_id: "1",
        content:
          "Error: The call was not sent to 'pi': it was not approved. Nothing was run.\nExplain this to the user; do not try it another way.",
      },
    ],
  });
  expect(replyTo(request).text).toBe(
    "pi failed: The call was not sent to 'pi': it was not approved. Nothing was run.",
  );
});
