/** A bound on how long a client waits for an answer, after which it is told what the turn waits for. */
import type { Context } from "hono";
import type { TurnResult } from "../api/answers.ts";
import type { StartedTurn } from "../api/start-turn.ts";
import { conversationOf, withRetry } from "../api/stubs.ts";
import { readSettings } from "../settings/settings.ts";
import type { App } from "./app.ts";
import type { Field } from "./fields.ts";
import type { Recheck } from "./object-stream.ts";
import { turnResult } from "./turn-stream.ts";

/** Longer than proxies hold a connection. */
const WAIT_MAX_S = 600;
const WHOLE_SECONDS = `whole seconds from 0 to ${WAIT_MAX_S}`;
export const EXPECTED_WAIT = `expected ${WHOLE_SECONDS}`;

export function isWait(seconds: unknown): seconds is number {
  return typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 0 && seconds <= WAIT_MAX_S;
}

/**
 * `wait` of the header `Prefer` (RFC 7240), in seconds; undefined without it. Other preferences are ignored. A wrong value is refused: a
 * client that waits too short a time should learn why.
 */
export const PREFER: Field<number | undefined> = {
  schema: { type: "string", examples: ["wait=15"] },
  isRequired: false,
  read(value, fail) {
    for (const preference of (value ?? "").split(",")) {
      if (!/^\s*wait\b/i.test(preference)) continue;
      const [, digits] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference) ?? [];
      const seconds = digits === undefined ? Number.NaN : Number(digits);
      return isWait(seconds) ? seconds : fail(`wait=N, ${WHOLE_SECONDS}`);
    }
    return undefined;
  },
};

/** Tells the client that its preference counts. */
export function applyWait(c: Context<App>, seconds: number): void {
  c.header("preference-applied", `wait=${seconds}`);
}

/** The address at which people reach this gateway. */
export function originOf(c: Context<App>): string {
  return readSettings(c.env).publicUrl ?? new URL(c.req.url).origin;
}

/** @property ends the sentence below the words that a client gets in place of the answer */
export type Patience = { seconds: number; ends: string };

/** The end of these words where the client's next message has the answer. */
export const WITH_NEXT_MESSAGE = "The answer comes with your next message.";

/**
 * @param probe is called when the conversation asks whether the client is still there
 * @returns the turn's result, or what it waits for after so long; undefined when the client has hung up, or may no longer read
 */
export async function resultWithin(
  c: Context<App>,
  name: string,
  turn: StartedTurn,
  { seconds, ends }: Patience,
  hangup: AbortSignal,
  recheck: Recheck,
  probe?: () => void,
): Promise<TurnResult | undefined> {
  const result = await turnResult(c.env, name, turn, seconds * 1_000, hangup, probe, recheck);
  if (result || hangup.aborted) return result;
  await recheck();
  return await withRetry(() => conversationOf(c.env, name).meanwhile(turn.turn, originOf(c), ends));
}
