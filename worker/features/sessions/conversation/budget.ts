/** The tokens that a session, and the conversation that began it, may still take. */
import { tokensOf } from "@edgecall/core/loop/history.ts";
import { asksSession } from "../../../kernel/api/home-tools.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import type { Settings } from "../../../kernel/settings/settings.ts";

/** A session that has not ended after a day takes nothing any more. */
const DAY_MS = 86_400_000;

/** Words for the person whose session has used up its budget; undefined: it has not. */
export function usedUp(transcript: Transcript, turn: Turn): string | undefined {
  const { budget } = turn.origin.session ?? {};
  if (budget === undefined) return undefined;
  const used = usedBy(transcript, turn);
  return used >= budget
    ? `The budget of this session is used up: ${used} of ${budget} tokens. Whoever began it can give another one more.`
    : undefined;
}

/** Tokens. Undefined: neither the conversation nor the session has a budget. */
export function budgetLeft(
  { transcript }: ConversationContext,
  turn: Turn,
  { budgets }: Settings,
): number | undefined {
  const { conversation } = transcript.spent(turn.n);
  const ofSession = tokensLeft(transcript, turn);
  const limit = budgets.conversation?.tokens;
  const left = [limit === undefined ? undefined : limit - conversation.tokens, ofSession].filter(
    (tokens) => tokens !== undefined,
  );
  if (left.length === 0) return undefined;
  const { reserved, open } = promised(transcript, turn);
  // Calls of one reply go out side by side, and each gets its part.
  return Math.max(0, Math.floor((Math.min(...left) - reserved) / Math.max(1, open)));
}

/** Tokens of the session that a turn belongs to. */
export function tokensLeft(transcript: Transcript, turn: Turn): number | undefined {
  const { budget } = turn.origin.session ?? {};
  return budget === undefined ? undefined : Math.max(0, budget - usedBy(transcript, turn));
}

/** Of all turns that the same call began, or that followed from those. */
function usedBy(transcript: Transcript, turn: Turn): number {
  const { call } = turn.origin.session ?? {};
  return transcript
    .turns()
    .filter(({ origin }) => origin.session?.call === call)
    .reduce((sum, { usage, agentsUsage }) => sum + tokensOf(usage) + tokensOf(agentsUsage), 0);
}

/** The tokens that sessions which have not ended may still take, and the number of calls that wait for a share. */
function promised(transcript: Transcript, turn: Turn): { reserved: number; open: number } {
  const calls = transcript.callsSince(turn.createdAt - DAY_MS).filter(({ name }) => asksSession(name));
  return {
    reserved: calls.reduce((sum, { outcome }) => sum + (outcome?.reserved ?? 0), 0),
    open: calls.filter(({ outcome }) => outcome === undefined).length,
  };
}
