/**
 * Starts a turn, and gets its answer or attaches to it, in one request to its conversation: each request to an object is billed. A
 * socket is opened by a request without a body, so the turn is in a header. A turn that is too long for that takes two requests.
 */
import type { Context } from "hono";
import {
  STARTED_TURN,
  STARTS_TURN,
  type StartedTurn,
  type StartRule,
  TURN_HEADER,
} from "../api/start-turn.ts";
import { conversationOf, withRetry } from "../api/stubs.ts";
import type { NewTurn } from "../api/turns.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import type { App } from "./app.ts";
import { RECHECK } from "./object-stream.ts";
import { REATTACH_TRIES } from "./turn-stream.ts";

/** The platform takes 128 KB of headers. */
const HEADER_MAX_CHARS = 32_768;

/** Starts a turn whose client wants every event. @returns undefined: the rule refuses the turn */
export async function startAndFollow(
  env: Env,
  name: string,
  turn: NewTurn,
  rule: StartRule,
): Promise<StartedTurn | undefined> {
  const text = turn.media?.length ? undefined : asciiJson({ turn, rule });
  if (text === undefined || text.length > HEADER_MAX_CHARS) return await startAlone(env, name, turn, rule);
  const headers = { upgrade: "websocket", [TURN_HEADER]: text };
  return await withRetry(async () => {
    const request = new Request(`https://object${STARTS_TURN}?live`, { headers });
    const response = await conversationOf(env, name).fetch(request);
    if (response.status === 409) return undefined;
    const id = response.headers.get(STARTED_TURN);
    if (id === null || !response.webSocket) throw new Error(`the turn was not started: ${response.status}`);
    return { turn: id, socket: response.webSocket };
  });
}

/**
 * Starts a turn whose client wants the answer alone. One that has not ended after so long, or that waits for a device or a person,
 * is returned without its result.
 * @param left is called with the turn when the client hangs up meanwhile
 * @returns undefined: the rule refuses the turn
 */
export async function startAndWait(
  c: Context<App>,
  name: string,
  turn: NewTurn,
  rule: StartRule,
  withinMs: number,
  left?: (turn: string) => void,
): Promise<StartedTurn | undefined> {
  const { signal } = c.req.raw;
  const began = Date.now();
  // Until it attaches, nothing asks whether its caller may still read.
  const heldMs = Math.min(withinMs, RECHECK.everyMs);
  const within = () => Math.max(0, heldMs - (Date.now() - began));
  // It may have begun before its object was stopped, so it is not given up sooner than by a client that is attached.
  const begun = withRetry(
    async () => await conversationOf(c.env, name).start(turn, rule, within()),
    REATTACH_TRIES,
  );
  const letGo = async () => {
    await conversationOf(c.env, name).letGo(turn.id);
    const result = await begun;
    if (result?.status === "running") left?.(result.turn);
  };
  const hangUp = () =>
    c.executionCtx.waitUntil(letGo().catch((error: unknown) => logError("turn.not_let_go", error)));
  signal.addEventListener("abort", hangUp);
  try {
    const result = await begun;
    if (!result) return undefined;
    const waitedMs = Date.now() - began;
    return { turn: result.turn, waitedMs, ...(result.status !== "running" && { result }) };
  } finally {
    signal.removeEventListener("abort", hangUp);
  }
}

/** Starts a turn that nobody follows yet. */
export async function startAlone(
  env: Env,
  name: string,
  turn: NewTurn,
  rule: StartRule,
): Promise<StartedTurn | undefined> {
  const started = await withRetry(async () => await conversationOf(env, name).start(turn, rule));
  return started && { turn: started.turn };
}

/** JSON with no characters that a header cannot hold. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
