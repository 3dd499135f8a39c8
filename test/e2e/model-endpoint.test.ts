/**
 * The table of test/cases/model-endpoint against real programs: a gateway, a bridge, a broker, devices with a tool that counts, and an
 * endpoint that plays the cases, for the gateway's loop and for the device's own. All are played side by side with one model, so
 * what one case teaches of the endpoint holds in the others too.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { playEndpoint } from "../cases/model-endpoint/endpoint.ts";
import { CASES } from "../cases/model-endpoint/index.ts";
import type { Case, Outcome } from "../cases/model-endpoint/replies.ts";
import type { Turn } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

const AGENTS = ["vma", "vmb", "vmc"];
/** Played at once: the pauses between tries are real. */
const AT_ONCE = 40;

const folder = mkdtempSync(join(tmpdir(), "edgecall-cases-"));
const counted = join(folder, "counted");
writeFileSync(counted, "");

/** A tool that counts: each call leaves its argument in a file. */
function addBump(skills: string): string {
  mkdirSync(join(skills, "bump/bin"), { recursive: true });
  const program = join(skills, "bump/bin/dt-bump");
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\0' "$2" >> ${counted}\nprintf 'did %s' "$2"\n`);
  chmodSync(program, 0o755);
  writeFileSync(
    join(skills, "bump/skill.toml"),
    `[[tools]]
name = "bump"
description = "Bump the counter"
permissions = []
sandboxing = "none"

[tools.parameters]
required = ["n"]

[tools.parameters.properties.n]
type = "string"
description = "What to count"
`,
  );
  return skills;
}

const endpoint = await playEndpoint(CASES, (run) => run.slice(0, 3));
afterAll(() => endpoint.close());
const llm = { LLM_BASE_URL: endpoint.url, LLM_MODEL: "m", LLM_API_KEY: "k" };

const stack = useStack({ vars: llm }, async (made) => {
  const tools = { skills_path: addBump(join(folder, "skills")), sandboxing: "none" };
  const agent = { max_prompts: AT_ONCE };
  await Promise.all(AGENTS.map((id) => made.startAgent({ id, env: llm, top: { tools, agent } })));
  await Promise.all(AGENTS.map((id) => made.gateway.online(id)));
});

type Played = { turn: Turn; answer: string; runs: string[]; requests: number };

const played = new Map<string, Promise<Played>>();
let free = AT_ONCE;
const waiting: Array<() => void> = [];

async function play(name: string, at: number, isDevice: boolean): Promise<Played> {
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free -= 1;
  try {
    const run = `${AGENTS[at % AGENTS.length]}${crypto.randomUUID().slice(0, 6)}`;
    const turn = await stack.gateway.ask(`Please bump it [[${isDevice ? "q-" : ""}${name}:${run}]]`);
    const tag = `${isDevice ? "d" : "g"}.${name}.${run}-`;
    const all = readFileSync(counted, "utf8").split("\0");
    return {
      turn,
      answer: (turn.answer ?? "").replaceAll(tag, ""),
      runs: all.filter((it) => it.startsWith(tag)).map((it) => it.slice(tag.length)),
      requests: endpoint.requests(`${isDevice ? "d/" : ""}${name}:${run}`).length,
    };
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}

const TABLE = Object.entries(CASES);
/**
 * It teaches that ids have nine characters, and Kimi (`e-kimi-rc`) wants its own back. No endpoint is both, so it comes when the others
 * have ended; model-failures.test.ts has an endpoint that another one's form spoils.
 */
const WANTS_OTHER_IDS = "e-mistral-id";

/** The first test begins all of them. */
function outcomeOf(name: string, isDevice: boolean): Promise<Played> {
  if (played.size === 0) {
    const begin = (each: string, at: number, device: boolean) => {
      played.set(`g ${each}`, play(each, at, false));
      if (device) played.set(`d ${each}`, play(each, at, true));
    };
    for (const [at, [each, { device }]] of TABLE.entries())
      if (each !== WANTS_OTHER_IDS) begin(each, at, device !== false);
    const others = Promise.allSettled(played.values());
    const last = (isDevice: boolean) => others.then(() => play(WANTS_OTHER_IDS, 0, isDevice));
    played.set(`g ${WANTS_OTHER_IDS}`, last(false));
    played.set(`d ${WANTS_OTHER_IDS}`, last(true));
  }
  return played.get(`${isDevice ? "d" : "g"} ${name}`) as Promise<Played>;
}

function expectOutcome({ turn, answer, runs, requests }: Played, outcome: Outcome, isDevice: boolean): void {
  const { answer: wanted, says = [], advice = "", status = "done" } = outcome;
  expect([...runs].sort(), answer).toEqual([...outcome.runs].sort());
  const text = isDevice ? saidByDevice(turn, answer) : answer;
  if (typeof wanted === "string") expect(text).toBe(wanted);
  else expect(text).toMatch(wanted);
  for (const part of says) expect(text).toContain(part);
  if (!isDevice) expect(answer).toContain(advice);
  if (!isDevice) expect(turn.status).toBe(status);
  expect(answer).not.toMatch(/secret|should pretend|<think>\n/);
  const [least, most] =
    typeof outcome.requests === "number" ? [outcome.requests, outcome.requests] : outcome.requests;
  expect(requests, `requests, for ${answer}`).toBeGreaterThanOrEqual(least);
  expect(requests, `requests, for ${answer}`).toBeLessThanOrEqual(most);
}

/** What the device said is the result of the gateway's call. Where its model called no tool, that stands before it. */
function saidByDevice({ calls: [call] }: Turn, answer: string): string | undefined {
  const said = /^FINAL\(([\s\S]*)\)$/.exec(answer)?.[1];
  if (call?.status !== "success" || (call.calls ?? []).length > 0) return said;
  const [line, ...rest] = said?.split("\n") ?? [];
  expect(line, "L15").toMatch(/^\[the device's model called no tool for this answer/);
  return rest.join("\n");
}

const named = (name: string, { row }: Case) => (row === undefined ? `M case ${name}` : `${row}: ${name}`);

describe("the gateway's loop", () => {
  for (const [name, one] of TABLE)
    test(named(name, one), { timeout: 240_000 }, async () => {
      expectOutcome(await outcomeOf(name, false), one.outcome, false);
    });
});

describe("the device's own loop", () => {
  for (const [name, one] of TABLE) {
    const { device } = one;
    if (device === false) continue;
    test(named(name, one), { timeout: 240_000 }, async () => {
      expectOutcome(await outcomeOf(name, true), { ...one.outcome, ...device }, true);
    });
  }
});
