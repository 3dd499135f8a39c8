/** Runs several turns at once, injects one fault into each, and collects what the verdict needs. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../wait.ts";
import { type Asked, ask, conversationOf, look, request, type SeenTurn } from "./client.ts";
import type { FaultName } from "./fault-names.ts";
import { inject, targetOf } from "./faults.ts";
import { Gate } from "./gate.ts";
import type { AskedTurn, History } from "./history.ts";
import { AGENTS, type AgentId, agentsOf, type PlannedTurn } from "./plan.ts";
import { recordOf } from "./record.ts";
import type { ChaosHome, ChaosStack } from "./stack.ts";

/**
 * Longer than any deadline of the gateway that one lost message can reach: `append` may take 60 s and 10 s on the way,
 * and the conversation itself looks 10 s later.
 */
const ANSWER_WITHIN_MS = 120_000;
/** A probe is repeated at once, so it may be given up sooner. */
const PROBE_WITHIN_MS = 60_000;
const PROBE_AGAIN_MS = 50;
/** A turn that waits for all agents waits at most this long, because the fault of another turn may last longer. */
const ONLINE_WITHIN_MS = 20_000;
/** The last calls settle by their deadlines. */
const QUIET_WITHIN_MS = 100_000;
/** Repeated messages arrive within this many ms. */
const LAST_REPLAY_MS = 6_000;

type TurnRecord = AskedTurn & {
  k: number;
  fault: FaultName;
  /** True for a probe: a question that checks if everything works again. */
  probe: boolean;
  /** True when the fault came while the turn was running. */
  hit: boolean;
};
/** The time from the kill to the first turn that was asked after it and answered with a device's result. */
type Recovery = { k: number; fault: FaultName; ms: number };

export type Exercise = {
  turns: TurnRecord[];
  recoveries: Recovery[];
  /** Faults that could not be injected or mended, in words. */
  troubles: string[];
  /** The number of turns for which no time was left. */
  notRun: number;
};

export type ExerciseOptions = {
  stack: ChaosStack;
  plans: readonly PlannedTurn[];
  /** The number of turns that run at once. */
  atOnce: number;
  /** No turn starts after this many ms. */
  limitMs: number;
  dir: string;
  say: (line: string) => void;
};

export async function exercise(options: ExerciseOptions): Promise<Exercise> {
  const { stack, plans, atOnce, limitMs, dir, say } = options;
  const gate = new Gate();
  const result: Exercise = { turns: [], recoveries: [], troubles: [], notRun: 0 };
  const began = performance.now();
  const left = [...plans];
  let done = 0;

  async function run(plan: PlannedTurn): Promise<void> {
    const { k, fault } = plan;
    const why = `turn ${k}, ${fault.name}`;
    const leave = await gate.enter(targetOf(fault), fault.alone);
    if (plan.patient || fault.alone) await allAnswer(stack, plan).catch(() => {});
    const startedAt = Date.now();
    const asking =
      plan.client === "program"
        ? stack.program.ask(plan, ANSWER_WITHIN_MS)
        : ask(stack.clientUrl, plan, ANSWER_WITHIN_MS);
    let hit = true;
    void asking.then(() => {
      hit = false;
    });
    await sleep(fault.at);
    const wasHit = hit;
    const brokenAt = performance.now();
    const mending = inject(stack, fault, why).catch((error: unknown) => {
      result.troubles.push(`${why}: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (fault.alone) {
      const probing = probe(stack, plan);
      await mending;
      const { turns, recovered } = await probing;
      result.turns.push(...turns.map((turn) => ({ ...turn, k, fault: fault.name, probe: true, hit: true })));
      if (recovered) result.recoveries.push({ k, fault: fault.name, ms: performance.now() - brokenAt });
      else result.troubles.push(`${why}: no turn was answered with a result afterwards`);
    } else await mending;
    leave();
    const asked = await asking;
    const looks = asked.answer && mayAskAgain(plan, asked.answer) ? [await askAgain(stack, plan, asked)] : [];
    const { conversation, key, client, script } = plan;
    const what = { k, fault: fault.name, probe: false, hit: wasHit };
    result.turns.push({ conversation, key, client, script, asked, looks, ...what });
    appendFileSync(
      join(dir, "turns.jsonl"),
      `${JSON.stringify({ started: new Date(startedAt).toISOString(), hit: wasHit, ...plan, asked, looks })}\n`,
    );
    done += 1;
    if (done % 25 === 0 || done === plans.length)
      say(`${done} of ${plans.length} turns, ${Math.round((performance.now() - began) / 1_000)} s`);
  }

  async function runner(): Promise<void> {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      if (performance.now() - began > limitMs) result.notRun += 1;
      else await run(plan);
    }
  }

  await Promise.all(Array.from({ length: atOnce }, runner));
  return result;
}

/** A call over MCP that was refused left nothing, so the same key may make it after all. */
function mayAskAgain({ client }: PlannedTurn, { calls }: SeenTurn): boolean {
  return (
    client !== "program" ||
    calls.every(({ status, error_type }) => status === "success" || error_type === "outcome_unknown")
  );
}

/** Sends the same key again: it must give the same turn with the same answer, at once. */
async function askAgain(stack: ChaosStack, plan: PlannedTurn, first: Asked) {
  const again =
    plan.client === "program"
      ? await stack.program.ask(plan, ANSWER_WITHIN_MS, first.answer)
      : await ask(stack.gatewayUrl, { ...plan, client: "json" }, ANSWER_WITHIN_MS);
  for (const turn of again.turns) if (!first.turns.includes(turn)) first.turns.push(turn);
  first.faults.push(...again.faults);
  return again.answer;
}

/** Repeats a small question until it is answered with a device's result. */
async function probe(
  stack: ChaosStack,
  { key, fault }: PlannedTurn,
): Promise<{ turns: AskedTurn[]; recovered: boolean }> {
  const turns: AskedTurn[] = [];
  const end = performance.now() + PROBE_WITHIN_MS;
  while (performance.now() < end) {
    const turn = `${key}-probe-${turns.length}`;
    const script = { turn, steps: [[{ agent: fault.agent, wait: 0 }]], delay: 0 };
    const question = { conversation: turn, key: turn, client: "json", script } as const;
    const asked = await ask(stack.gatewayUrl, question, ANSWER_WITHIN_MS);
    turns.push({ ...question, asked, looks: [] });
    if (asked.answer?.calls.some((call) => call.status === "success")) return { turns, recovered: true };
    await sleep(PROBE_AGAIN_MS);
  }
  return { turns, recovered: false };
}

/** Waits until no turn and no call is running, then reads everything again. */
export async function gather(
  stack: ChaosStack,
  { turns }: Exercise,
  died: readonly string[],
  say: (line: string) => void,
): Promise<History> {
  say("waiting until nothing is under way any more");
  await sleep(LAST_REPLAY_MS);
  await until(() => isQuiet(stack), {
    within: QUIET_WITHIN_MS,
    every: 200,
    what: "no call is under way",
  }).catch((error: Error) => say(error.message));
  // A call of the connected program belongs to no conversation.
  const inConversations = turns.filter(({ client }) => client !== "program");
  for (const turn of inConversations) {
    const id = turn.asked.answer?.turn;
    if (id !== undefined) turn.looks.push(await look(stack.gatewayUrl, turn.conversation, id));
  }
  const records = { own: await recordOf(stack), lender: await recordOf(stack.lender) };
  const conversations: Map<string, Awaited<ReturnType<typeof conversationOf>>> = new Map();
  for (const name of new Set(inConversations.map((turn) => turn.conversation)))
    conversations.set(name, await conversationOf(stack.gatewayUrl, name));
  const effects = new Map(AGENTS.map((id) => [id as string, stack.agents[id].effects()]));
  return { turns, conversations, effects, records, breaches: stack.model.breaches, died };
}

type Status = { bridge: { online: boolean }; calls: unknown[] };
type Fleet = { agents: Array<{ id: string; online: boolean }> };

/** @returns undefined while the gateway does not answer */
async function read<T>({ gatewayUrl }: ChaosHome, path: string): Promise<T | undefined> {
  const response = await request(gatewayUrl, path).catch(() => undefined);
  return response?.ok ? ((await response.json().catch(() => undefined)) as T | undefined) : undefined;
}

async function isOnline(home: ChaosHome): Promise<boolean> {
  const status = await read<Status>(home, "/v1/status");
  const fleet = await read<Fleet>(home, "/v1/agents");
  const isThere = (id: string) => fleet?.agents.some((agent) => agent.id === id && agent.online) === true;
  return status?.bridge.online === true && home.members.every(({ id }) => isThere(id));
}

async function isQuiet(stack: ChaosStack): Promise<boolean> {
  for (const home of [stack, stack.lender])
    if (!(await isOnline(home)) || (await read<Status>(home, "/v1/status"))?.calls.length !== 0) return false;
  return true;
}

/** Resolves when each agent of the turn has answered a ping. @throws when that takes too long */
async function allAnswer(stack: ChaosStack, { script }: PlannedTurn): Promise<void> {
  const body = JSON.stringify({ command: "ping", payload: {} });
  const answers = async (agent: AgentId): Promise<boolean> => {
    const { id, gatewayUrl } = stack.agents[agent];
    const path = `/v1/agents/${id}/commands`;
    const response = await request(gatewayUrl, path, { method: "POST", body }).catch(() => undefined);
    return response?.status === 200;
  };
  const agents = agentsOf(script.steps.flat());
  const what = `${agents.join(", ")} answer`;
  await until(async () => (await Promise.all(agents.map(answers))).every((yes) => yes), {
    within: ONLINE_WITHIN_MS,
    every: 50,
    what,
  });
}

/** Resolves when every agent is online. @throws when that takes too long */
export async function allOnline(stack: ChaosStack): Promise<void> {
  const what = "the bridge and all agents are online";
  await until(async () => (await isOnline(stack)) && (await isOnline(stack.lender)), {
    within: ONLINE_WITHIN_MS,
    every: 50,
    what,
  });
}
