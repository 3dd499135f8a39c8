/** The sentence of a turn that may need no model: a person's own words, alone in the turn. */
import { agentOfCall } from "@edgecall/core/loop/history.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { PersonsSentence } from "../../../kernel/api/roster.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { offeredTools } from "../../../kernel/conversation/feature.ts";
import { lastLanguage, noteOf } from "../../../kernel/conversation/planned.ts";
import type { StoredEntry, Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Settings } from "../../../kernel/settings/settings.ts";
import type { SentenceNote } from "../note.ts";

/** "It" means what was spoken of so long ago at most. */
const EARLIER_MS = 10 * 60_000;

/** @returns undefined: the turn is a program's, or has more than words */
export function sentence(
  context: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
  settings: Settings,
): PersonsSentence | undefined {
  const { origin } = turn;
  if (!settings.loopEnabled || origin.event || origin.session) return undefined;
  // A caller that named a model wants its answer.
  if (origin.model !== undefined && origin.replaceable !== true) return undefined;
  const { instructions, developer, tools, clientTools, wants, results } =
    context.transcript.clientContextOf(turn);
  if ([instructions, developer, tools, clientTools, wants, results].some((one) => one !== undefined))
    return undefined;
  const own = history.filter((entry) => entry.turn === turn.n);
  const asked = own.slice(own.findLastIndex(({ role }) => role === "assistant") + 1);
  const words = asked.filter((entry) => entry.role === "user");
  const [first] = words;
  // After a model's calls the turn is the model's.
  if (!first || own.at(-1) !== words.at(-1) || words.some(({ images }) => images && images.length > 0))
    return undefined;
  const language = context.isOneShot ? undefined : lastLanguage(context.transcript, turn.n);
  const last = lastOf(context, turn);
  const earlier = last ? earlierIn(last) : [];
  const back = last && noteIn(last)?.back;
  return {
    text: words.map(({ text }) => text).join("\n"),
    ...(language !== undefined && { language }),
    ...(earlier.length > 0 && { earlier }),
    ...(back && { back }),
    tools: offeredTools(context, turn, settings).flatMap(({ all }) => Object.keys(all)),
    asker: {
      viewer: { name: origin.principal, role: origin.role, scopes: ["ask"] },
      conversation: context.name,
    },
  };
}

/** The entries of this person's last turn, where it is not long ago and no stranger's text came with it. */
function lastOf(
  { transcript, isOneShot }: ConversationContext,
  turn: Turn,
): readonly StoredEntry[] | undefined {
  const last = isOneShot || turn.origin.brought?.history ? undefined : transcript.turnAt(turn.n - 1);
  if (!last || last.origin.principal !== turn.origin.principal || last.origin.event) return undefined;
  if ((last.finishedAt ?? 0) < turn.createdAt - EARLIER_MS) return undefined;
  return transcript.sourcesOf(last).includes(STRANGER) ? undefined : transcript.entriesOf(last.n);
}

/** The agents that it was about. */
function earlierIn(entries: readonly StoredEntry[]): string[] {
  const note = noteIn(entries);
  if (note) return note.about;
  const calls = entries.flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
  return [...new Set(calls.flatMap((call) => (call.name === EDGE_CALL ? (agentOfCall(call) ?? []) : [])))];
}

function noteIn(entries: readonly StoredEntry[]): SentenceNote | undefined {
  // SAFETY: home/plan-reply.ts wrote it.
  return noteOf(entries) as SentenceNote | undefined;
}
