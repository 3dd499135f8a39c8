/** Makes the screen reader's announcements of a turn: one sentence for each step. Pure. */
import { cutText } from "@edgecall/core/text/cut.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { type CallView, isNotice, type TurnView } from "./turns.ts";

/** Most characters of an announced answer; the page has the rest. */
const ANSWER_MAX = 600;

/** Returns the newest announcement; empty when there is nothing new. */
export function announcement(turn: TurnView | undefined): string {
  if (!turn) return "";
  const open = turn.questions.find(({ answer }) => answer === undefined);
  if (turn.answer !== null && isNotice(turn)) return cutText(turn.answer, ANSWER_MAX);
  if (turn.answer !== null) return `Answer: ${cutText(turn.answer, ANSWER_MAX)}`;
  if (turn.problem !== undefined) return "";
  if (open)
    return open.approval
      ? visible(open.text.split("\n", 1)[0] ?? "")
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
