/**
 * The loop over the turns of a conversation. Nothing else advances a turn: a new turn, a result, a cancel or an alarm
 * writes a row and sets the loop going, detached. It takes step after step, each from the rows alone, until nothing is
 * left to do, or nothing can be done before a result or an alarm. Then it ends, and the object may sleep.
 */
import { nextOf } from "@edgecall/core/loop/next.ts";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { logError } from "../log.ts";
import { phrasesOf, readLanguage } from "../phrases.ts";
import { settingsOrError } from "../settings/settings.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { historyOf } from "./client-context.ts";
import { handedOver, isClients } from "./client-tools.ts";
import type { ConversationContext } from "./context.ts";
import { notifyEnds } from "./feature.ts";
import { runModelStep } from "./model-call.ts";
import { expire } from "./retention.ts";
import type { Turn } from "./store/rows.ts";
import { tryAgain } from "./texts.ts";
import { HOME_RETRY_MS, runCallStep } from "./tool-calls.ts";
import { cancelTurn, finishTurn } from "./turns.ts";

/** Sets the loop going. Never awaited: the caller returns, and the loop goes on. */
export function drive(context: ConversationContext): void {
  const { loop, chat, ctx } = context;
  chat?.wake();
  loop.isDue = true;
  if (loop.isRunning) return;
  // An object has one instance, so flags in memory keep it to one loop.
  loop.isRunning = true;
  loop.isParked = false;
  ctx.waitUntil(run(context));
}

/** Sets the loop going where a crash has stopped it; one that runs or is parked needs nothing. */
export function resume(context: ConversationContext): void {
  const { isRunning, isParked } = context.loop;
  if (!isRunning && !isParked) drive(context);
}

async function run(context: ConversationContext): Promise<void> {
  const { loop, alarm } = context;
  try {
    while (loop.isDue) {
      loop.isDue = false;
      const dueAt = await advance(context);
      if (dueAt !== undefined) await alarm.wakeBy(dueAt);
    }
    context.transcript.writeAll();
    loop.isParked = true;
  } catch (error) {
    await stepFailed(context, error);
  } finally {
    loop.isRunning = false;
    // From here on the object may sleep: who waits for a turn waits elsewhere.
    context.subscribers.held.release("later");
  }
}

/** Takes steps while there is something to do. @returns when to look again (epoch ms), if nothing else happens */
async function advance(context: ConversationContext): Promise<number | undefined> {
  for (;;) {
    const notifyAt = await notifyEnds(context);
    const turn = context.transcript.currentTurn();
    if (!turn) return earliest(notifyAt, await expire(context));
    if (turn.error !== null) {
      await cancelTurn(context, turn);
      continue;
    }
    if (turn.notBefore > Date.now()) return earliest(notifyAt, turn.notBefore);
    if (context.chat && (await context.chat.fetch(turn))) continue;
    const dueAt = await runStep(context, turn);
    if (dueAt !== undefined) return earliest(notifyAt, dueAt);
  }
}

function earliest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** @returns undefined: the next step may be taken at once; else when to look again (epoch ms), if no result comes */
async function runStep(context: ConversationContext, turn: Turn): Promise<number | undefined> {
  const { language } = turn.origin;
  if (language !== undefined) await readLanguage(context.env, language);
  const settings = settingsOrError(context.env);
  if (settings instanceof SettingsError) {
    const answer = `The gateway is not set up right. ${settings.message}`;
    finishTurn(context, turn, "failed", answer, "settings");
    return undefined;
  }
  const history = historyOf(context.transcript, turn, settings.history.keepFirst);
  const own = history.filter((entry) => entry.turn === turn.n);
  const next = nextOf(own, settings.limits);
  if (next.do === "model") await runModelStep(context, turn, history, next, settings);
  else if (next.do === "done") finishTurn(context, turn, "done", next.text);
  else if (handedOver(turn, own).length === 0) return await runCallStep(context, turn, history, settings);
  else {
    // The caller runs the calls that are left; a later turn brings the results.
    const asked = own.findLast((entry) => entry.role === "assistant");
    const isMixed = asked?.calls.some((call) => !isClients(turn, call));
    finishTurn(context, turn, "done", isMixed ? "" : (asked?.text ?? ""));
  }
  return undefined;
}

/** Something that no step expects. It is counted, so that it cannot come back for ever. */
async function stepFailed(context: ConversationContext, error: unknown): Promise<void> {
  const { transcript, alarm, name } = context;
  logError("turn.step_failed", error, { conversation: name });
  const turn = transcript.currentTurn();
  if (!turn) return;
  if (transcript.countAttempt(turn.n) > MAX_ATTEMPTS) {
    const phrases = phrasesOf(turn.origin.language);
    const failed = tryAgain(transcript.entriesOf(turn.n), undefined, phrases);
    const answer = phrases.sentences(phrases.say("internalError"), failed);
    finishTurn(context, turn, "failed", answer, "internal");
  }
  await alarm.wakeBy(Date.now() + HOME_RETRY_MS);
}
