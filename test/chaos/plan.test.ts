import { expect, test } from "vitest";
import { chooseFaults, FAULT_NAMES, FAULTS } from "./fault-names.ts";
import { questionOf, scriptOf } from "./model.ts";
import { readOptions } from "./options.ts";
import { AGENTS, agentsOf, callsOf, LENT_AGENT, type PlannedCall, planTurn } from "./plan.ts";

const turns = (seed: number, count: number) =>
  Array.from({ length: count }, (_, k) => planTurn(seed, k, FAULT_NAMES));

test("a seed always gives the same turns, each independent of the others; another seed gives others", () => {
  const all = turns(7, 40);
  expect(turns(7, 40)).toEqual(all);
  expect(planTurn(7, 31, FAULT_NAMES)).toEqual(all[31]);
  expect(turns(8, 40)).not.toEqual(all);
});

test("a short run has at least 40 faults, at every process and every link", () => {
  const short = readOptions(["--short"])?.turns.length ?? 0;
  expect(short).toBeGreaterThanOrEqual(40);
  for (const seed of [1, 2, 3]) {
    const met = new Set(turns(seed, short).map(({ fault }) => fault.name));
    expect([...met].sort()).toEqual([...FAULT_NAMES].sort());
  }
});

test("each turn has its own key, one to three calls a step, and a fault within its time", () => {
  const all = turns(3, 200);
  expect(new Set(all.map(({ key }) => key)).size).toBe(200);
  for (const { script, fault } of all) {
    for (const calls of script.steps) expect([1, 2, 3]).toContain(calls.length);
    expect(fault.at).toBeLessThan(3_000);
    expect(fault.lasts).toBeGreaterThanOrEqual(200);
    expect(fault.lasts).toBeLessThanOrEqual(3_000);
  }
});

test("a turn whose messages are reordered has two messages to the same agent", () => {
  for (const { script, fault } of turns(4, 100)) {
    if (FAULTS[fault.name].kind !== "reorder") continue;
    const [first, second] = script.steps[0] ?? [];
    expect(first?.agent).toBe(second?.agent);
  }
});

test("faults are chosen by name or by kind; a name that matches nothing is reported", () => {
  expect(chooseFaults("cut:gateway,kill")).toEqual(
    expect.arrayContaining(["cut:gateway", "kill:worker", "kill:agent"]),
  );
  expect(() => chooseFaults("burn")).toThrow("'burn'");
});

/** A call and all that its agent's own model calls, with the agents before each. */
function inner(call: PlannedCall, via: string[] = []): Array<{ call: PlannedCall; via: string[] }> {
  if (typeof call.does !== "object") return [{ call, via }];
  return callsOf(call.does).flatMap((one) => inner(one, [...via, call.agent]));
}

test("agents are asked in words, in chains that do not come back and have three agents at most", () => {
  const chains = turns(5, 400).flatMap(({ script }) => callsOf(script).flatMap((call) => inner(call)));
  const lengths = new Set(chains.map(({ via }) => via.length));
  expect([...lengths].sort()).toEqual([0, 1, 2]);
  for (const { call, via } of chains) {
    const others = via.at(-1) === call.agent ? via.slice(0, -1) : via;
    expect(new Set([...others, call.agent]).size).toBe(others.length + 1);
    // The lender lends no other agent.
    if (via.includes(LENT_AGENT)) expect([via.at(-1), call.agent]).toEqual([LENT_AGENT, LENT_AGENT]);
  }
});

test("the script of an agent's own model follows from the text alone, and each call has a place of its own", () => {
  const all = turns(6, 200);
  for (const { script } of all) expect(scriptOf(questionOf(script))).toEqual(script);
  const places = all.flatMap(({ script }) => {
    const placesOf = (of: typeof script): string[] =>
      callsOf(of).flatMap(({ place, does }) => [place, ...(typeof does === "object" ? placesOf(does) : [])]);
    return placesOf(script);
  });
  expect(new Set(places).size).toBe(places.length);
});

test("jobs: some in a short run, at most one in a conversation, and few enough for each agent to begin turns", () => {
  const jobs = turns(7, 500).filter(({ script }) => callsOf(script).some(({ does }) => does === "job"));
  expect(jobs.filter(({ k }) => k < (readOptions(["--short"])?.turns.length ?? 0)).length).toBeGreaterThan(2);
  expect(new Set(jobs.map(({ conversation }) => conversation)).size).toBe(jobs.length);
  for (const agent of AGENTS) {
    const own = jobs.filter(({ script }) => script.steps[0]?.[0]?.agent === agent);
    expect(own.length).toBeLessThan(20);
  }
});

test("what fails between two homes or at the lender meets a turn that calls the lent agent", () => {
  for (const { script, fault } of turns(8, 200)) {
    if (!["lender", "link:peer"].includes(FAULTS[fault.name].target)) continue;
    expect(fault.agent).toBe(LENT_AGENT);
    expect(agentsOf(script.steps.flat())).toContain(LENT_AGENT);
  }
});
