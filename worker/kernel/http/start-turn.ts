/**
 * Starts a turn and attaches to it in one request to its conversation: each request to an object is billed. A socket is opened by a
 * request without a body, so the turn is in a header. A turn that is too long for that takes two requests.
 */
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

/** The platform takes 128 KB of headers. */
const HEADER_MAX_CHARS = 32_768;

/**
 * @param live true: the socket brings every event; false: the end alone
 * @returns undefined: the rule refuses the turn
 */
export async function startTurn(
  env: Env,
  name: string,
  turn: NewTurn,
  rule: StartRule,
  live: boolean,
): Promise<StartedTurn | undefined> {
  const text = turn.media?.length ? undefined : asciiJson({ turn, rule });
  if (text === undefined || text.length > HEADER_MAX_CHARS) return await startAlone(env, name, turn, rule);
  const headers = { upgrade: "websocket", [TURN_HEADER]: text };
  return await withRetry(async () => {
    const request = new Request(`https://object${STARTS_TURN}${live ? "?live" : ""}`, { headers });
    const response = await conversationOf(env, name).fetch(request);
    if (response.status === 409) return undefined;
    const id = response.headers.get(STARTED_TURN);
    if (id === null || !response.webSocket) throw new Error(`the turn was not started: ${response.status}`);
    return { turn: id, socket: response.webSocket };
  });
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
