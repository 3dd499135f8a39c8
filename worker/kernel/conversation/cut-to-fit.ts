/** Cuts a conversation's history to what a model takes. The model sums up once what no longer fits. */
import type { EntryRoom } from "@edgecall/core/loop/ask-fitting.ts";
import { fitHistory } from "@edgecall/core/loop/fit.ts";
import type { Entry } from "@edgecall/core/loop/history.ts";
import { callModel, type Fetch } from "@edgecall/core/loop/model.ts";
import type { NamedModel } from "@edgecall/core/loop/models.ts";
import { summaryPrompt } from "@edgecall/core/loop/summary.ts";
import { headOf } from "@edgecall/core/loop/tokens.ts";
import { logError } from "../log.ts";
import type { Settings } from "../settings/settings.ts";
import { hasOwnHistory } from "./client-context.ts";
import type { ConversationContext } from "./context.ts";
import { correctSpending } from "./correct-spending.ts";
import type { StoredEntry, Turn } from "./store/rows.ts";

/** Three hundred words in any language. A longer one would take the place of the conversation in a small window. */
const SUMMARY_MAX_CHARS = 3_000;
/** The text of a conversation has at least so many characters a token. */
const CHARS_PER_TOKEN = 2;
const SUMMARY_WORDS_TOKENS = 200;

export type Cut = {
  context: ConversationContext;
  turn: Turn;
  history: readonly StoredEntry[];
  /** Our estimate of the history. */
  tokens: number;
  settings: Settings;
  signal: AbortSignal;
  model: NamedModel;
  fetch: Fetch | undefined;
};

export async function cutToFit(cut: Cut, room: EntryRoom): Promise<readonly Entry[]> {
  const { context, turn, history, tokens, settings, signal, model, fetch } = cut;
  const { transcript } = context;
  if (tokens <= room.maxTokens) return history;
  const begins = history.findIndex((entry) => entry.turn === turn.n);
  const lastQuestion = Math.max(
    0,
    history.findLastIndex(({ role }) => role === "user"),
  );
  // A turn that takes results of its caller's tools goes on with what they were asked for.
  const currentFrom = begins >= 0 ? begins : lastQuestion;
  // A summary is of all the rows, in their order.
  const isApart = hasOwnHistory(transcript, turn);
  const summary = isApart ? undefined : transcript.summary();
  const { keepFirst } = settings.history;
  const options = { ...room, keepFirst, currentFrom, ...(summary && { summary }) };
  const fitted = fitHistory(history, options);
  const from = history[fitted.shownFrom];
  if (summary && !summary.from && from && fitted.cut.turns === summary.turns)
    transcript.summaryEnds(summary, from);
  // A summary is for good, and the next request may well have room for what this one has not.
  if (!fitted.toSummarise || !from || isApart || room.isProvisional) return fitted.entries;
  try {
    const most =
      room.hardTokens === undefined ? undefined : (room.hardTokens - SUMMARY_WORDS_TOKENS) * CHARS_PER_TOKEN;
    const content = summaryPrompt(fitted.toSummarise, most);
    const request = {
      messages: [{ role: "user" as const, content }],
      tools: [],
      maxTokens: room.reply,
      signal,
    };
    const reply = await callModel(model, request, fetch);
    const made = { text: headOf(reply.text, SUMMARY_MAX_CHARS), turns: fitted.cut.turns };
    transcript.summarise(made, turn.n, from, reply.usage);
    const call = { model: model.name, usage: reply.usage, reserved: 0, estimate: 0 };
    correctSpending(context, settings, call);
    return fitHistory(history, { ...options, summary: made }).entries;
  } catch (error) {
    if (signal.aborted) throw error;
    // Without a summary the turns are left out all the same, and the note in their place says so.
    logError("summary.failed", error, { turn: turn.id });
    return fitted.entries;
  }
}
