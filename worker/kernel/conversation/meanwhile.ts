/**
 * Turns that run on when their clients wait no longer. Such a client is told what the turn waits for; the answer comes with that of
 * the next message, once.
 */
import { agentOfCall } from "@edgecall/core/loop/history.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import type { TurnQuestion, TurnResult, Waiting } from "../api/answers.ts";
import { earlierText } from "../api/earlier.ts";
import type { NewTurn } from "../api/turns.ts";
import { isClients } from "./client-tools.ts";
import type { ConversationContext } from "./context.ts";
import { lostClientsOf } from "./lost-clients.ts";
import type { StoredCall, Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { earlierOf, turnResult } from "./turn-view.ts";

/** A turn as it stands, as `ConversationApi.meanwhile` has it. */
export function meanwhile(
  context: ConversationContext,
  turn: Turn,
  origin: string,
  ends: string | undefined,
): TurnResult {
  const { transcript } = context;
  if (turn.status !== "running") {
    // It ended in the moment in which the client gave up.
    if (ends !== undefined) lostClientsOf(context).received(turn);
    return turnResult(transcript, turn);
  }
  const { waiting, text: words } = waitingFor(transcript, turn, `${origin}/#/waiting`);
  const { earlier = [] } = earlierOf(transcript, turn);
  // Their pictures come below an answer only.
  const isWhole =
    earlier.length === turn.carries?.length && !earlier.some(({ calls }) => calls.some(hasMedia));
  const told = isWhole ? earlierText(earlier) : "";
  const text = [[words, ends].filter(Boolean).join("\n"), told].filter(Boolean).join("\n\n");
  if (ends !== undefined) transcript.leaveMeanwhile(turn.n, { text, ...(told && { told: true as const }) });
  return { ...turnResult(transcript, turn), waiting, meanwhile: text };
}

function hasMedia({ media }: { media?: unknown[] }): boolean {
  return media !== undefined && media.length > 0;
}

/** Returns the things that a turn waits for. Turns run one after the other, so that may be an earlier one's call. */
function waitingFor(transcript: Transcript, turn: Turn, link: string): { waiting: Waiting; text: string } {
  const current = transcript.currentTurn() ?? turn;
  const calls = transcript
    .entriesOf(current.n)
    .flatMap((entry) => (entry.role === "assistant" ? entry.calls : []))
    .filter((call) => !call.outcome && call.same === undefined && !isClients(current, call));
  const questions = transcript
    .questionsOf(current.n)
    .flatMap(({ question }) => (question.answer === undefined ? [question] : []));
  const asking = new Set(
    questions.flatMap(({ call, members = [] }) => [call, ...members.map((one) => one.call)]),
  );
  const silent = new Set(calls.filter(({ id }) => !asking.has(id)).map(nameOf));
  const sentences = [
    ...(current.n === turn.n ? [] : ["Your earlier question comes first."]),
    ...questions.map((question) => questionSentence(question, link)),
    ...(silent.size > 0
      ? [`${listed([...silent])} ${silent.size > 1 ? "have" : "has"} not answered yet.`]
      : []),
    ...(questions.length + silent.size === 0 ? ["The answer is not ready yet."] : []),
  ];
  return {
    text: sentences.join("\n"),
    waiting: {
      calls: calls.map((call) => ({ id: call.id, name: call.name, ...askedBy(call) })),
      questions: questions.map(({ id, agent, text, approval, expires_at }) => ({
        id,
        agent,
        text,
        approval: approval !== undefined,
        expires_at,
        link,
      })),
    },
  };
}

const NAME_MAX_CHARS = 60;
const QUESTION_MAX_CHARS = 200;

/** Nothing follows the address on its line, so that programs make the right link of it. */
function questionSentence({ agent, text, approval }: TurnQuestion, link: string): string {
  if (approval) return `${plain(text, QUESTION_MAX_CHARS)} That waits for your approval: ${link}`;
  return `${plain(agent)} asks: ${plain(text, QUESTION_MAX_CHARS)} Answer at ${link}`;
}

function nameOf(call: StoredCall): string {
  return plain(agentOfCall(call) ?? call.name);
}

function plain(text: string, max = NAME_MAX_CHARS): string {
  return oneLine(visible(text), max);
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${last}` : last;
}

function askedBy(call: StoredCall): { agent?: string; action?: string; query?: string } {
  const agent = agentOfCall(call);
  const { action, query } = call.args;
  return {
    ...(agent !== undefined && { agent }),
    ...(typeof action === "string" && { action }),
    ...(typeof query === "string" && { query }),
  };
}

/** @returns the numbers of the turns whose answers the client of a new turn gets with its own, the oldest first */
export function owedBefore(context: ConversationContext, { origin }: NewTurn): number[] {
  const { transcript, isOneShot } = context;
  const turns = transcript.turns();
  const lostClients = lostClientsOf(context);
  const wasLeft = (turn: Turn) => lostClients.isWithout(turn);
  // Most times. A turn that no client began has nobody to tell.
  if (!turns.some(wasLeft) || origin.event || origin.session || origin.reply) return [];
  const carried = new Set(turns.flatMap(({ carries = [] }) => carries));
  const { after } = origin.brought ?? {};
  // Other chats may be in the same object; a response may go on from any earlier one.
  const before = isOneShot || after !== undefined ? turnsUpTo(transcript, after) : turns;
  return before
    .filter((turn) => wasLeft(turn) && !carried.has(turn.n))
    .flatMap(({ n, carries = [], meanwhile, origin: { client } }) => [
      ...(meanwhile?.told ? [] : carries),
      ...(meanwhile || client?.waits !== undefined ? [n] : []),
    ]);
}

/** Each goes on from the one before it. */
function turnsUpTo(transcript: Transcript, id: string | undefined): Turn[] {
  const turns: Turn[] = [];
  for (let turn = transcript.turn(id ?? ""); turn; ) {
    turns.unshift(turn);
    const { n } = turn;
    const before = transcript.turn(turn.origin.brought?.after ?? "");
    turn = before && before.n < n ? before : undefined;
  }
  return turns;
}
