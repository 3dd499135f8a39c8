/** Whether asking more people may wait for the end of the quiet hours. */

import { isInside, nextEdge } from "@edgecall/core/rules/window.ts";
import type { Question } from "../../api/questions.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { idInConversation } from "../ledger/ledger.ts";
import { callOf } from "./deciders.ts";
import { kindOf } from "./question-kind.ts";

/** @returns when the quiet hours end that hold it back, epoch ms; undefined: nothing does */
export async function heldUntil(
  home: HomeContext,
  question: Question,
  now: number,
): Promise<number | undefined> {
  const { quiet } = clockOf(home).read();
  if (!quiet || !isInside(quiet, now) || kindOf(home, question).isDangerous) return undefined;
  return (await isAwaited(home, question)) ? undefined : nextEdge(quiet, now);
}

/** True if a person waits for the answer right now. */
export async function isAwaited(home: HomeContext, question: Question): Promise<boolean> {
  const call = callOf(home, question);
  const id = call ? idInConversation(call) : question.call;
  if (call?.conversation === null) return home.ctx.getWebSockets(id).length > 0;
  try {
    return await conversationOf(home.env, question.conversation).isAwaited(id);
  } catch (error) {
    // Rather asked once too often than not at all.
    logError("question.awaited_unknown", error, { question: question.id });
    return true;
  }
}
