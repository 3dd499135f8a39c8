/** Shared by the routes of OpenAI's clients: reads a request, names its conversation, waits for its turn or ends it. */
import { sha256Hex } from "@edgecall/core/encoding.ts";
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { TurnResult } from "../../kernel/api/answers.ts";
import type { StartedTurn } from "../../kernel/api/start-turn.ts";
import { conversationOf, withRetry } from "../../kernel/api/stubs.ts";
import type { App } from "../../kernel/http/app.ts";
import { recheckSeen } from "../../kernel/http/conversation-access.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { readBytes } from "../../kernel/http/request.ts";
import { turnResult } from "../../kernel/http/turn-stream.ts";
import { originOf, resultWithin, WITH_NEXT_MESSAGE } from "../../kernel/http/wait.ts";
import { logError } from "../../kernel/log.ts";
import { isBackgroundRequest } from "./background.ts";
import type { SortedMessages } from "./client-messages.ts";
import { oncePlace, type Place } from "./conversation-key.ts";
import type { Linker } from "./pictures.ts";

/** These clients send the whole chat each time, with its pictures. Parsed as JSON it has to fit a Worker's 128 MB. */
const BODY_MAX_BYTES = 8 * 1024 * 1024;
/** Longer than any turn, and longer than any client waits. */
const LONGEST_TURN_MS = 6 * 3_600_000;

/** @returns the body, and its SHA-256, by which a repeat is recognised @throws HttpError 400 */
export async function readRequest<T>(
  c: Context<App>,
  schema: z.ZodMiniType<T>,
): Promise<{ request: T; hash: string }> {
  const bytes = await readBytes(c, BODY_MAX_BYTES);
  const body = checkJson(schema, new TextDecoder().decode(bytes));
  if (!body.ok) throw new HttpError(400, "invalid_body", body.error);
  return { request: body.value, hash: (await sha256Hex(bytes)).slice(0, 32) };
}

export function linkerOf(c: Context<App>): Linker {
  return { env: c.env, origin: originOf(c), home: c.get("token").home };
}

export function wantsTrace(c: Context<App>): boolean {
  return c.req.header("x-edge-trace")?.toLowerCase() !== "off";
}

/** @returns the conversation of a request; undefined when it names none */
export async function placeFor(
  c: Context<App>,
  sorted: SortedMessages,
  named: () => Promise<Place | undefined>,
): Promise<{ place: Place | undefined; isBackground: boolean }> {
  const token = c.get("token");
  if (isBackgroundRequest(sorted.text, sorted.instructions))
    return { place: await oncePlace(token, crypto.randomUUID()), isBackground: true };
  return { place: await named(), isBackground: false };
}

/**
 * Cancels a turn that nobody waits for: a person who pressed Stop wants the device to stop too. This work continues after the
 * request has ended.
 */
export function stopper(c: Context<App>, place: Place, turn: string): () => void {
  return () => {
    const stopped = conversationOf(c.env, place.name).leave(turn);
    c.executionCtx.waitUntil(stopped.catch((error: unknown) => logError("cancel.failed", error)));
  };
}

/**
 * @param signal fires when the client hangs up
 * @param hurry is called when something has to be written to the client now
 * @param wait the seconds that the client waits; undefined: to the end
 * @returns the turn's result, or what it waits for; undefined when the turn could not be followed to its end
 */
export function turnEnd(
  c: Context<App>,
  place: Place,
  turn: StartedTurn,
  signal: AbortSignal,
  hurry: () => void,
  wait: number | undefined,
): Promise<TurnResult | undefined> {
  const recheck = recheckSeen(c, place.name);
  if (wait !== undefined) {
    const patience = { seconds: wait, ends: WITH_NEXT_MESSAGE };
    return resultWithin(c, place.name, turn, patience, signal, recheck, hurry);
  }
  return turnResult(c.env, place.name, turn, LONGEST_TURN_MS, signal, hurry, recheck);
}

/** Lets a client go whose time is over. @returns what its turn waits for, or the result that came in this moment */
export async function meanwhileOf(
  c: Context<App>,
  place: Place,
  turn: string,
): Promise<TurnResult | undefined> {
  await recheckSeen(c, place.name)();
  return await withRetry(() =>
    conversationOf(c.env, place.name).meanwhile(turn, originOf(c), WITH_NEXT_MESSAGE),
  );
}

/** Sets the headers that name the turn and the conversation. */
export function nameTurn(c: Context<App>, place: Place, turn: string): void {
  c.header("edgecall-turn", turn);
  if (place.key !== undefined) c.header("x-edge-conversation", place.key);
}
