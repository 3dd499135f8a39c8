/** What a screen reader is told of a turn: each step once, in a sentence. Pure. */
import { visible } from "@edgecall/core/tools/visible.ts";
import type { CallView, TurnView } from "./turns.ts";

/** A longer answer is read in the page. */
const ANSWER_MAX = 600;

/** The newest thing to say; empty: nothing new. */
export function announcement(turn: TurnView | undefined): string {
  if (!turn) return "";
  const open = turn.questions.find(({ answer }) => answer === undefined);
  if (turn.answer !== null) return `Answer: ${turn.answer.slice(0, ANSWER_MAX)}`;
  if (turn.problem !== undefined) return "";
  if (open)
    return open.approval
      ? `${open.agent} asks for your approval before it runs ${visible(open.approval.tool)}.`
      : `${open.agent} asks: ${visible(open.text)}`;
  const running = turn.calls.findLast(({ status }) => status === "pending");
  if (running) return `${nameOf(running)} is running.`;
  const ended = turn.calls.at(-1);
  if (ended) return `${nameOf(ended)}: ${ended.status === "success" ? "done" : "failed"}.`;
  return turn.status === "sending" ? "Sent." : "";
}

function nameOf({ action, query, name, agent = "the gateway" }: CallView): string {
  return `${action ?? (query === undefined ? name : "a question in words")} on ${agent}`;
}
