import fc from "fast-check";
import { expect, test } from "vitest";
import { agentsNote, edgeCallDefinition } from "./edge-call.ts";
import type { Roster, RosterAgent } from "./roster.ts";

const agents = (count: number, more: Partial<RosterAgent> = {}): RosterAgent[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `agent-${n}`,
    online: true,
    reason: undefined,
    lastSeen: 1,
    line: `It measures the temperature of room ${n} and switches its heating`,
    actions: ["read_temperature", "set_heating", "read_file", "bash"],
    queues: [],
    hasModel: true,
    foreign: false,
    ...more,
  }));

test.each([1, 4, 50])("G16 with %d agents the description has at most 1,000 characters", (count) => {
  for (const more of [{}, { line: "x".repeat(2_000) }, { online: false, queues: ["water".repeat(100)] }]) {
    const roster = { bridgeOnline: true, agents: agents(count, more) };
    const definition = edgeCallDefinition(roster)?.function;
    const { description = "", parameters } = definition ?? {};
    expect(description.length).toBeLessThanOrEqual(1_000);
    expect(description).toMatch(
      /^Call an edge agent to handle a query using its own tools and sensors\. Online/,
    );
    expect(description).toContain("\n  - agent-0");
    // The description has only some agents when the system prompt has all.
    const isWhole = !description.includes("more: the system prompt has all of them");
    for (const { id } of roster.agents)
      expect(isWhole ? description : agentsNote(roster, [])).toMatch(new RegExp(`- ${id}[: ]`));
    for (const { description: words } of Object.values(
      (parameters as { properties: Record<string, { description: string }> }).properties,
    ))
      expect(words.length).toBeLessThanOrEqual(1_000);
  }
});

test("G16 a home whose agents fit has them only in the description", () => {
  const roster = { bridgeOnline: true, agents: agents(2) };
  expect(edgeCallDefinition(roster)?.function.description).toMatch(/agent-0[\s\S]*agent-1/);
  expect(agentsNote(roster, [])).toBe("");
});

test("an agent's line in the tool's description is one line, and its action names are at most 200 characters", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/), { maxLength: 50 }), (actions) => {
      const pi = {
        id: "pi",
        online: true,
        reason: undefined,
        lastSeen: 1,
        line: "x",
        actions,
        queues: [],
        hasModel: true,
        foreign: false,
      };
      const description =
        edgeCallDefinition({ bridgeOnline: true, agents: [pi] })?.function.description ?? "";
      expect(description.split("\n")).toHaveLength(2);
      const names = /\[actions: (.*?)(, …)?\]$/.exec(description)?.[1] ?? "";
      expect(names.length).toBeLessThanOrEqual(200);
    }),
  );
});

type Shown = { properties: { agent_id: { enum: string[]; description: string } } };
function targetOf(roster: Roster) {
  const parameters = edgeCallDefinition(roster)?.function.parameters as Shown | undefined;
  return parameters?.properties.agent_id;
}

test("any agent may be called where two are online, and a group where one of it is", () => {
  const [one, two, ...others] = agents(4) as [RosterAgent, RosterAgent, ...RosterAgent[]];
  expect(targetOf({ bridgeOnline: true, agents: [one, { ...two, online: false }] })).toEqual({
    type: "string",
    description: "ID of the target edge agent",
    enum: ["agent-0"],
  });
  const lathes = others.map((agent) => ({ ...agent, group: "lathes" }));
  const roster = { bridgeOnline: true, agents: [one, two, ...lathes] };
  expect(targetOf(roster)).toMatchObject({
    description: "ID of the target edge agent; 'any': one that can do it and is free",
    enum: ["agent-0", "agent-1", "agent-2", "agent-3", "lathes", "any"],
  });
  expect(edgeCallDefinition(roster)?.function.description.split("\n")[1]).toBe(
    "  - lathes (group of 2, one of them does it): agent-2, agent-3",
  );
  const away = lathes.map((agent) => ({ ...agent, online: false }));
  expect(targetOf({ bridgeOnline: true, agents: [one, ...away] })?.enum).toEqual(["agent-0"]);
});

test("an agent that has the name of a group, or is called 'any', is listed once and is the agent", () => {
  const [one, two] = agents(2) as [RosterAgent, RosterAgent];
  const named = [
    { ...one, id: "any" },
    { ...two, group: "any" },
  ];
  expect(targetOf({ bridgeOnline: true, agents: named })?.enum).toEqual(["agent-1", "any"]);
});
