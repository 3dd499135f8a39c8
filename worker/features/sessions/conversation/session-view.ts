/** A conversation as `session_status` shows it, and the end of a turn that a tool began, as the model that began it gets it. */
import { fittingCalls, type Outcome } from "@edgecall/core/loop/history.ts";
import { recordsOf } from "@edgecall/core/loop/run.ts";
import { cutText, RESULT_TEXT_MAX_BYTES } from "@edgecall/core/tools/runner.ts";
import type { SessionInfo, SessionTurn } from "../../../kernel/api/turns.ts";
import { hasOthers } from "../../../kernel/conversation/ask-home.ts";
import { sourcesFor } from "../../../kernel/conversation/client-context.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { shownCall, type Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import { tokensLeft } from "./budget.ts";

/** Files that are named below an answer. */
const FILES_MAX = 10;

export function sessionInfo(transcript: Transcript): SessionInfo | undefined {
  const turns = transcript.turns();
  const principal = transcript.beganBy();
  const running = transcript.currentTurn();
  const last = running ?? turns.at(-1);
  if (principal === undefined || !last) return undefined;
  const asked =
    running && transcript.questionsOf(running.n).find(({ question }) => question.answer === undefined);
  const { session } = last.origin;
  const left = tokensLeft(transcript, last);
  return {
    principal,
    status: asked ? "waiting" : running ? "running" : "idle",
    turns: turns.length,
    tokens: transcript.spent(last.n).conversation.tokens,
    others: hasOthers(transcript, last),
    ...(session && { session }),
    ...(turns[0]?.origin.session && { parent: turns[0].origin.session.parent }),
    ...(left !== undefined && { tokensLeft: left }),
    lastAt: last.finishedAt ?? last.createdAt,
    ...(asked && { waitsFor: `a person's answer to a question of '${asked.question.agent}'` }),
    ...(running && { turn: running.id }),
  };
}

export function sessionTurn(context: ConversationContext, turn: Turn): SessionTurn {
  const { createdAt: at, origin } = turn;
  return {
    at,
    budget: origin.session?.budget,
    ...(turn.status !== "running" && { outcome: sessionOutcome(context, turn) }),
  };
}

/** @param turn that has ended */
export function sessionOutcome({ name, transcript }: ConversationContext, turn: Turn): Outcome {
  const { status, answer, createdAt, finishedAt, usage, agentsUsage } = turn;
  const records = recordsOf(transcript.entriesOf(turn.n)).map(shownCall);
  const files = records.flatMap(({ media = [] }) => media).slice(0, FILES_MAX);
  const named = files.map(({ id, media_type }) => `/v1/media/${id} (${media_type})`);
  const text = [answer ?? "", ...(named.length > 0 ? [`Files: ${named.join(", ")}`] : [])].join("\n");
  const calls = fittingCalls(records);
  return {
    status: status === "done" ? "success" : "error",
    ...(status !== "done" && { errorType: "execution_failed" }),
    text: cutText(text, RESULT_TEXT_MAX_BYTES),
    elapsedMs: Math.max(0, (finishedAt ?? createdAt) - createdAt),
    ...(calls.length > 0 && { calls }),
    sources: sourcesFor(transcript, turn),
    usage: {
      input_tokens: usage.input_tokens + agentsUsage.input_tokens,
      output_tokens: usage.output_tokens + agentsUsage.output_tokens,
    },
    session: name.split("/").slice(2).join("/"),
  };
}
