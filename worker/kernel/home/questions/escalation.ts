/**
 * An approval that nobody decides reaches more people: everybody who may decide after two minutes, and once more, urgently, after
 * five. In quiet hours a kind that can wait is held back, unless a person waits for it right now.
 */

import type { NewQuestion, Question, Reached } from "../../api/questions.ts";
import type { HomeContext } from "../context.ts";
import { questionsOf } from "../ledger/questions.ts";
import { askEverybody, remindAsked } from "./approvers.ts";
import { EVERYBODY_AFTER_MS, REMIND_AFTER_MS } from "./asking-times.ts";
import { wasDenied } from "./denials.ts";
import { kindOf } from "./question-kind.ts";
import { heldUntil, isAwaited } from "./waiting.ts";

/** @returns when more people are asked about a new question, epoch ms; undefined: never */
export function askMoreAt(home: HomeContext, { approval }: NewQuestion, now: number): number | undefined {
  if (approval && wasDenied(home, approval.hash, now)) return undefined;
  return now + EVERYBODY_AFTER_MS;
}

/** Asks more people where it is due. */
export async function askMore(home: HomeContext, now: number): Promise<void> {
  for (const question of questionsOf(home).toAskMore(now)) {
    const held = await heldUntil(home, question, now);
    const { id, stage, asked = [] } = question;
    if (held !== undefined) questionsOf(home).setAsked(id, asked, stage, held);
    else if (stage === 1) await askAll(home, question, now);
    else await remind(home, question);
  }
}

/** A person at a browser wants to decide it in another place. @returns who was asked, before too */
export async function askAllNow(home: HomeContext, question: Question, now: number): Promise<Reached[]> {
  if (question.stage === 1) await askAll(home, question, now);
  await home.alarm.arm();
  return questionsOf(home).get(question.id)?.asked ?? [];
}

async function askAll(home: HomeContext, question: Question, now: number): Promise<void> {
  const asked = await askEverybody(home, question);
  const canRemind = asked.some(({ subscriptions }) => subscriptions !== undefined);
  const next = canRemind ? Math.max(question.askedAt + REMIND_AFTER_MS, now) : undefined;
  questionsOf(home).setAsked(question.id, asked, 2, next);
}

async function remind(home: HomeContext, question: Question): Promise<void> {
  const { id, asked = [] } = question;
  if (kindOf(home, question).isDangerous || (await isAwaited(home, question)))
    await remindAsked(home, question);
  questionsOf(home).setAsked(id, asked, 3, undefined);
}
