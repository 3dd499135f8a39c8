/** Judges a history: the questions, the answers, and the effects on the devices. Pure. */
import type { Asked, SeenCall, SeenTurn } from "./client.ts";
import { answerMark, questionOf } from "./model.ts";
import type { TurnScript } from "./plan.ts";

/** A turn, and everything that was seen of it. */
export type AskedTurn = {
  conversation: string;
  key: string;
  script: TurnScript;
  asked: Asked;
  /**
   * Each later look: directly after the answer with the same key, and at the end. Undefined: the turn was not found.
   */
  looks: Array<SeenTurn | undefined>;
};

export type History = {
  turns: readonly AskedTurn[];
  /** The gateway's turns in each conversation, with their questions. */
  conversations: ReadonlyMap<string, ReadonlyArray<SeenTurn & { text: string }>>;
  /** The ids of the calls that took effect, per agent, in order. */
  effects: ReadonlyMap<string, readonly string[]>;
  /** Histories that the model endpoint refused. */
  breaches: readonly string[];
  /** Programs that ended by themselves, in words. */
  died: readonly string[];
};

export const VIOLATIONS = {
  lost: "turns lost",
  again: "turns answered twice, or not always the same",
  twice: "calls executed twice",
  claimed: "successes claimed without a result",
  denied: "calls that ran, though it was said that nothing was run",
  stray: "effects that belong to no call of their agent",
  open: "finished turns with an open call",
  wrong: "answers that are not the turn's own",
  client: "things that no client should see",
  history: "histories that no model endpoint would take",
  died: "programs that ended by themselves",
} as const;
export type ViolationKind = keyof typeof VIOLATIONS;
export type Violation = { kind: ViolationKind; turn?: string; what: string };

export function judge(history: History): Violation[] {
  const effects = countEffects(history.effects);
  return [
    ...history.turns.flatMap((turn) => judgeTurn(turn, effects)),
    ...judgeConversations(history),
    ...judgeEffects(history),
    ...history.breaches.map((what): Violation => ({ kind: "history", what })),
    ...history.died.map((what): Violation => ({ kind: "died", what })),
  ];
}

type Effects = ReadonlyMap<string, { times: number; agents: string[] }>;

function countEffects(lines: History["effects"]): Effects {
  const effects = new Map<string, { times: number; agents: string[] }>();
  for (const [agent, ids] of lines) {
    for (const id of ids) {
      const { times, agents } = effects.get(id) ?? { times: 0, agents: [] };
      effects.set(id, { times: times + 1, agents: [...new Set([...agents, agent])] });
    }
  }
  return effects;
}

function judgeTurn(turn: AskedTurn, effects: Effects): Violation[] {
  const { key, asked, looks, script } = turn;
  const found: Violation[] = [];
  const say = (kind: ViolationKind, what: string) => found.push({ kind, turn: key, what });
  for (const what of asked.faults) say("client", what);
  if (asked.turns.length > 1) say("again", `one key became ${asked.turns.length} turns: ${asked.turns}`);
  const { answer } = asked;
  if (!answer) {
    say("lost", `no answer within ${Math.round(asked.ms / 1_000)} s`);
    return found;
  }
  for (const seen of looks) {
    if (!seen) say("lost", "it was answered, and is not there any more");
    else for (const what of differences(answer, seen)) say("again", what);
  }
  const planned = script.steps.flat();
  if (answer.status === "done") {
    if (!answer.answer?.startsWith(answerMark(script.turn)))
      say("wrong", `the answer is '${answer.answer?.slice(0, 120)}'`);
    const called = answer.calls.map((call) => call.agent).join(", ");
    const wanted = planned.map((call) => call.agent).join(", ");
    if (called !== wanted) say("wrong", `called were ${called}, the script has ${wanted}`);
    for (const call of answer.calls) {
      if (call.status === "success" && !answer.answer?.includes(call.id))
        say("wrong", `the answer does not have the result of call ${call.id}`);
    }
  } else if (!answer.answer) say("lost", `it ended as '${answer.status}' without words`);
  // The last known state counts, because an unknown outcome may have become known.
  const last = looks.findLast((seen) => seen !== undefined) ?? answer;
  for (const call of last.calls) {
    const { kind, what } = judgeCall(call, effects.get(call.id)?.times ?? 0);
    if (kind) say(kind, what);
  }
  for (const call of answer.calls) {
    if (call.status === "success" && !effects.has(call.id))
      say("claimed", `call ${call.id} was answered with '${call.result?.slice(0, 80)}'`);
  }
  return found;
}

function judgeCall(call: SeenCall, times: number): { kind?: ViolationKind; what: string } {
  const text = (call.error ?? call.result ?? "").slice(0, 160);
  if (times > 1) return { kind: "twice", what: `call ${call.id} to ${call.agent} ran ${times} times` };
  if (call.status === "pending") return { kind: "open", what: `call ${call.id} has no outcome` };
  if (call.status === "success") {
    return times === 1 ? { what: text } : { kind: "claimed", what: `call ${call.id}: '${text}'` };
  }
  if (call.error_type === "outcome_unknown" || times === 0) return { what: text };
  return { kind: "denied", what: `call ${call.id} ran, and it was said (${call.error_type}): '${text}'` };
}

/** Returns the differences between two looks at a finished turn. Only a late result may change anything. */
function differences(first: SeenTurn, later: SeenTurn): string[] {
  const found: string[] = [];
  for (const field of ["turn", "status", "answer"] as const) {
    if (first[field] !== later[field])
      found.push(
        `${field}: first '${String(first[field]).slice(0, 160)}', then '${String(later[field]).slice(0, 160)}'`,
      );
  }
  const ids = (turn: SeenTurn) => turn.calls.map((call) => call.id).join(", ");
  if (ids(first) !== ids(later)) found.push(`calls: first ${ids(first)}, then ${ids(later)}`);
  for (const call of first.calls) {
    const then = later.calls.find(({ id }) => id === call.id);
    const mayChange = call.error_type === "outcome_unknown";
    if (then && !mayChange && then.status !== call.status)
      found.push(`call ${call.id}: first ${call.status}, then ${then.status}`);
  }
  return found;
}

/** The gateway has one turn for each key, and no other turns. */
function judgeConversations({ turns, conversations }: History): Violation[] {
  const found: Violation[] = [];
  for (const [name, stored] of conversations) {
    const texts = stored.map((turn) => turn.text);
    for (const { key, script } of turns.filter((turn) => turn.conversation === name)) {
      const times = texts.filter((text) => text === questionOf(script)).length;
      if (times === 0) found.push({ kind: "lost", turn: key, what: `conversation ${name} does not have it` });
      if (times > 1)
        found.push({ kind: "again", turn: key, what: `conversation ${name} has it ${times} times` });
    }
    const asked = turns.filter((turn) => turn.conversation === name).length;
    if (stored.length > asked)
      found.push({ kind: "stray", what: `conversation ${name}: ${stored.length} turns, ${asked} asked` });
  }
  return found;
}

/** Every effect belongs to a call of a turn, on the agent that was called. */
function judgeEffects({ turns, conversations, effects }: History): Violation[] {
  const calls = new Map<string, string | undefined>();
  const stored = [...conversations.values()].flat();
  const seen = turns.flatMap(({ asked, looks }) => [asked.answer, ...looks]);
  for (const turn of [...stored, ...seen]) {
    for (const call of turn?.calls ?? []) calls.set(call.id, call.agent);
  }
  const found: Violation[] = [];
  for (const [agent, ids] of effects) {
    for (const id of new Set(ids)) {
      if (!calls.has(id)) found.push({ kind: "stray", what: `${agent} ran ${id}, which no turn has` });
      else if (calls.get(id) !== agent)
        found.push({ kind: "stray", what: `${agent} ran ${id}, which was for ${calls.get(id)}` });
    }
  }
  return found;
}
