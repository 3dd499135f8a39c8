/**
 * Steps of a turn that needs no model: Home planned its calls, or its answer, when it read the person's sentence. The plan stands in
 * the turn's rows, so what is left to do follows from them alone.
 */
import { assistantEntry } from "@edgecall/core/loop/run.ts";
import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import type { PlannedCall, PlannedReply } from "../api/plan.ts";
import type { PersonsSentence } from "../api/roster.ts";
import type { Settings } from "../settings/settings.ts";
import type { ConversationContext } from "./context.ts";
import { featuresOf, type Unaided } from "./feature.ts";
import { planOf, type StoredPlan } from "./planned.ts";
import type { StoredEntry, Turn } from "./store/rows.ts";
import type { ModelReply } from "./store/transcript.ts";
import { finishTurn } from "./turns.ts";

/** @returns undefined: a model has to answer, or there is no sentence that is alone in its turn */
export function sentenceOf(
  context: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
  settings: Settings,
): PersonsSentence | undefined {
  return unaidedOf(context)?.sentence(context, turn, history, settings);
}

/** Goes on with a turn that was begun by a plan. @returns false: it was not, or the person has written more meanwhile */
export async function continueUnaided(
  context: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
): Promise<boolean> {
  const current = sinceAsked(history.filter((entry) => entry.turn === turn.n));
  const replies = current.filter((entry) => entry.role === "assistant");
  const [first] = replies;
  const plan = first && planOf(first);
  if (!plan) return false;
  const { steps = [], note } = plan;
  const calls = replies.map((reply) => reply.calls);
  const isDone = calls.at(-1)?.every(({ outcome }) => outcome?.status === "success") === true;
  const next = steps[replies.length];
  if (next && isDone) {
    addCalls(context, turn, history, next);
    return true;
  }
  const skipped = Math.max(0, steps.length - replies.length);
  const answer = (await unaidedOf(context)?.tell(context, { turn, note, calls, skipped })) ?? "";
  const told = calls.flat().some(({ outcome }) => outcome?.shown?.text === answer);
  const last = { ...replyOf(turn, history, answer, [], { note }), told };
  finishTurn(context, turn, "done", answer, undefined, last);
  return true;
}

/** Begins to answer a turn as planned. @returns false: the plan has neither calls nor an answer */
export function beginUnaided(
  context: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
  { steps = [], answer, asks, note = {} }: PlannedReply,
): boolean {
  const [first] = steps;
  if (first) {
    addCalls(context, turn, history, first, { steps, note, ...(asks !== undefined && { asks }) });
    return true;
  }
  if (answer === undefined) return false;
  finishTurn(context, turn, "done", answer, undefined, replyOf(turn, history, answer, [], { note }));
  return true;
}

function unaidedOf(context: ConversationContext): Unaided | undefined {
  return featuresOf(context).find(({ unaided }) => unaided)?.unaided;
}

/** The entries since the person's last words. */
function sinceAsked(own: readonly StoredEntry[]): readonly StoredEntry[] {
  return own.slice(own.findLastIndex(({ role }) => role === "user") + 1);
}

function addCalls(
  context: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
  calls: readonly PlannedCall[],
  plan?: StoredPlan,
): void {
  const { transcript, subscribers, chat, unsent } = context;
  const made = replyOf(turn, history, "", calls, plan ?? {});
  const seq = transcript.addReply(turn.n, made);
  if (seq === undefined) return;
  for (const { id } of made.reply.calls) unsent.add(id);
  subscribers.replied(turn, seq);
  chat?.progress(turn);
}

function replyOf(
  turn: Turn,
  history: readonly StoredEntry[],
  text: string,
  calls: readonly PlannedCall[],
  kept: Record<string, unknown>,
): ModelReply {
  const requested = calls.map(({ name, args }) => ({
    id: undefined,
    name,
    rawArguments: JSON.stringify(args),
  }));
  const reply = { text, calls: requested, model: WITHOUT_MODEL, usage: undefined, from: WITHOUT_MODEL };
  const after = history.findLast((entry) => entry.turn === turn.n && entry.role !== "note")?.seq ?? null;
  const entry = assistantEntry(
    { ...reply, replay: { message: kept }, finish: "stop" },
    history,
    calls.length > 0,
  );
  return { after, reply: entry, model: WITHOUT_MODEL, usage: undefined };
}
