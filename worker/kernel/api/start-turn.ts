/** How the Worker starts a turn and attaches to it with one request. */
import type { TurnResult } from "./answers.ts";
import type { NewTurn } from "./turns.ts";

/** The path at a conversation's object. */
export const STARTS_TURN = "/start";
/** It has a person's words. In logs and traces the platform hides the value of a header with "secret" in its name. */
export const TURN_HEADER = "edgecall-secret-turn";
/** The answer's header with the turn's id. */
export const STARTED_TURN = "edgecall-turn";

/**
 * Which conversations take the turn. `any`: every one. `own`: unless somebody else began it, perhaps meanwhile. `within`: unless so
 * many other turns wait for their end already.
 * @property chars a chat that begins is not taken either where turns with so many characters are held; default: it is
 */
export type StartRule = "any" | "own" | { within: number; chars?: number };

/** The JSON of the header. */
export type StartRequest = { turn: NewTurn; rule: StartRule };

/**
 * @property turn its id, or that of the turn that was recognised
 * @property socket its events
 * @property result it has ended. Without socket and result: attach to it
 * @property waitedMs how long its client waited for it so far
 */
export type StartedTurn = { turn: string; socket?: WebSocket; result?: TurnResult; waitedMs?: number };
