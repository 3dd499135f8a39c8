/** The gateway's tools as its model gets them, and those of /mcp: its own, a device's, and those of devices on a broker. */
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { callText, llamaGrammar } from "@edgecall/core/testkit/llama-grammar.ts";
import { refusedParts } from "@edgecall/core/testkit/model-schema.ts";
import { CASES, NOW, newCatalog } from "@edgecall/discovery/testkit/device-cases.ts";
import { describe, expect, test } from "vitest";
import { automationTools } from "../../features/automations/model-tools.ts";
import { historyTools } from "../../features/history/model-tools.ts";
import { actionTools, namedActions, steadyTools } from "../../features/mcp/tools.ts";
import { ruleTools } from "../../features/rules/model-tools.ts";
import { sessionTools } from "../../features/sessions/model-tools.ts";
import { gatewayTools } from "../conversation/tools/registry.ts";
import { type CallTarget, edgeCallDefinition } from "./edge-call.ts";
import { actionSchemas, findAgentsDefinition } from "./find-agents.ts";
import type { HomeCounts, Roster } from "./roster.ts";

const COUNTS: HomeCounts = { known: 30, online: 30, kinds: [], areas: [], kindsIn: [] };

/** Of devices that real publishers announced. */
function hosted(): CallTarget[] {
  const catalog = newCatalog();
  for (const { topic, payload } of CASES.configs) catalog.mqtt.config(topic, JSON.stringify(payload), NOW);
  return catalog.devices(NOW).map(({ id, line, actions }) => target(id, line, [...actions]));
}

function target(id: string, line: string, adverts: ActionAdvert[]): CallTarget {
  return {
    id,
    line,
    adverts,
    online: true,
    reason: undefined,
    lastSeen: NOW,
    actions: adverts.map(({ name }) => name),
    queues: [],
    hasModel: true,
    foreign: false,
    asks: true,
    incompatibleWith: undefined,
  };
}

/** What programs of others advertise: a small MCP server's schema of pydantic, and one of zod. */
const FOREIGN = target("desk", "MCP servers", [
  {
    name: "book",
    description: "Books a room",
    parameters: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "bookArguments",
      type: "object",
      properties: {
        room: { $ref: "#/$defs/Room" },
        until: {
          anyOf: [{ type: "string", format: "date-time" }, { type: "null" }],
          default: null,
          title: "Until",
        },
        seats: { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 100 },
        value: { type: ["number", "string", "boolean"] },
        note: { type: "string", maxLength: 10_000, pattern: "^[^<>]*$" },
      },
      required: ["room", "until"],
      additionalProperties: false,
      $defs: {
        Room: { type: "object", properties: { name: { const: "attic" }, in: { $ref: "#/$defs/Room" } } },
      },
    },
  },
]);

function offered() {
  const roster: Roster = { bridgeOnline: true, agents: hosted().slice(0, 20) };
  const edgeCall = [edgeCallDefinition(roster), edgeCallDefinition({ ...roster, excerptOf: COUNTS })];
  const web = { keys: ["k"], baseUrl: "http://127.0.0.1:1" };
  const settings = {
    sessions: true,
    rules: true,
    history: true,
    webfetch: true,
    websearch: web,
    codesearch: web,
  };
  const tools = [
    ...edgeCall.flatMap((definition) => definition ?? []),
    findAgentsDefinition(),
    ...sessionTools.definitions(false),
    ...ruleTools.definitions(false),
    ...ruleTools.definitions(true),
    ...historyTools.definitions(false),
    ...automationTools.definitions(false),
    ...gatewayTools(settings, {} as never).definitions(),
  ];
  return tools.map(({ function: { name, description, parameters } }) => ({ name, description, parameters }));
}

async function overMcp() {
  const agents = [...hosted(), FOREIGN];
  const tools = [
    ...steadyTools({ agents }, true, [ruleTools, historyTools]),
    ...steadyTools({ agents, excerptOf: COUNTS }, true, [ruleTools]),
    ...actionTools((await namedActions(agents)).values(), 1_000),
  ];
  return tools.map(({ name, description = "", inputSchema }) => ({
    name,
    description,
    parameters: inputSchema,
  }));
}

test.each([
  ["the gateway's", offered, 16],
  ["/mcp's", overMcp, 60],
])("L2: %s tools have schemas that all endpoints and clients take", async (_, toolsOf, least) => {
  const tools = await toolsOf();
  expect(tools.length).toBeGreaterThan(least);
  for (const { name, description, parameters } of tools) {
    expect(refusedParts(parameters), name).toEqual([]);
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(description.length, name).toBeLessThanOrEqual(1_024);
  }
});

test("L2: a value of several types is a text whose words say so", () => {
  const watch = offered().find(({ name }) => name === "watch");
  expect(watch?.parameters.properties).toMatchObject({
    value: { type: "string", description: "number, text or true/false" },
  });
});

test("L2: the schemas that find_agents and edge_list answer are the same", () => {
  const [book] = actionSchemas(FOREIGN.adverts, 6_000);
  expect(book).toMatchObject({
    params: {
      properties: {
        room: { type: "object", properties: { name: { enum: ["attic"] }, in: { type: "object" } } },
        until: { type: "string", description: "Until; or null" },
        seats: { type: "integer", minimum: 1, maximum: 99 },
        note: { type: "string", description: "matches ^[^<>]*$" },
      },
      required: ["room", "until"],
    },
  });
});

describe("by llama.cpp's own rules", { tags: ["needs/llama-cpp"] }, () => {
  test("L2: all of the gateway's tools make one grammar, and all of /mcp's another", async () => {
    const gateway = offered().filter(({ name }, at, all) => all.findIndex((one) => one.name === name) === at);
    const grammar = llamaGrammar(gateway);
    expect(
      grammar.takes(callText("edge_call", { agent_id: "freezer", action: "read", params: { a: [1, null] } })),
    ).toBe(true);
    expect(grammar.takes(callText("edge_call", { agent_id: "nobody" }))).toBe(false);
    const bed = { name: "Warm", agent_id: "freezer", reading: "temperature", is: "above", value: "-15" };
    expect(grammar.takes(callText("watch", bed))).toBe(true);
    const actions = llamaGrammar(await overMcp());
    expect(actions.takes(callText("desk__book", { room: { name: "attic" }, until: "x", seats: 12 }))).toBe(
      true,
    );
    expect(() =>
      llamaGrammar([{ name: "book", parameters: FOREIGN.adverts[0]?.parameters ?? {} }]),
    ).toThrow();
  });
});
