/**
 * The events of a turn, over a socket to its conversation. The Worker holds the caller's response while the objects sleep,
 * and attaches again where it left off when the socket closes early (a deploy, an eviction, a crash): a Worker's wall
 * time is free, an object's is billed.
 */
import type { TurnResult } from "../api/answers.ts";
import type { StartedTurn } from "../api/start-turn.ts";
import { conversationOf } from "../api/stubs.ts";
import type { TurnEvent } from "../api/turn-events.ts";
import type { Env } from "../env.ts";
import { eventStream, messagesOf, openSocket, type Recheck, whileAllowed } from "./object-stream.ts";

/** A JSON caller waits so long for the answer, and then gets the turn's id to look at later. */
export const JSON_PATIENCE_MS = 25_000;
/** Consecutive attempts to attach again, and the pause between them: about 15 s in all. */
export const REATTACH_TRIES = 15;
const REATTACH_PAUSE_MS = 1_000;

/**
 * Yields the events of a turn after a seq, up to its end, also when the object is replaced meanwhile.
 * @param turn a turn that was just started may have its socket already, which was opened with the same `live`
 * @param live true: every event; false: the end alone
 */
export async function* turnEvents(
  env: Env,
  name: string,
  turn: StartedTurn,
  after: number,
  live: boolean,
  hangup: AbortSignal,
  recheck?: Recheck,
): AsyncGenerator<TurnEvent> {
  const allowed = whileAllowed(hangup, recheck);
  try {
    yield* eventsWhile(allowed.signal, env, name, turn, after, live);
  } finally {
    allowed.end();
  }
}

async function* eventsWhile(
  signal: AbortSignal,
  env: Env,
  name: string,
  { turn, socket: first }: StartedTurn,
  after: number,
  live: boolean,
): AsyncGenerator<TurnEvent> {
  let seen = after;
  /** Deltas were sent that no whole message has replaced yet. */
  let isPartial = false;
  let isFirst = true;
  for (let tries = 0; tries < REATTACH_TRIES && !signal.aborted; tries += 1) {
    if (tries > 0) await pause(REATTACH_PAUSE_MS, signal);
    try {
      const attach = `/attach?turn=${turn}&after=${seen}${live ? "&live" : ""}`;
      const socket = isFirst && first ? first : await openSocket(conversationOf(env, name), attach);
      isFirst = false;
      if (socket === "gone") return;
      for await (const text of messagesOf(socket, signal)) {
        // SAFETY: our own object sent it.
        const event = JSON.parse(text) as TurnEvent;
        tries = 0;
        if ("id" in event) seen = Math.max(seen, event.id);
        if (event.event === "delta") isPartial = true;
        else if (event.event === "message" || event.event === "reset") isPartial = false;
        yield event;
        if (event.event === "done") return;
      }
    } catch {
      // The object is being replaced; the next try reaches the new one.
    }
    // The new object does not know how much of the text the client has.
    if (isPartial) yield { event: "reset", data: {} };
    isPartial = false;
  }
}

/**
 * @param patienceMs from the moment in which the turn was asked for
 * @returns the turn's result; undefined when it takes longer
 * @param probe is called when the conversation asks whether the client is still there
 */
export async function turnResult(
  env: Env,
  name: string,
  turn: StartedTurn,
  patienceMs: number,
  hangup: AbortSignal,
  probe: () => void = () => {},
  recheck?: Recheck,
): Promise<TurnResult | undefined> {
  if (turn.result) return turn.result;
  const leftMs = patienceMs - (turn.waitedMs ?? 0);
  if (leftMs <= 0) return undefined;
  const signal = AbortSignal.any([hangup, AbortSignal.timeout(leftMs)]);
  for await (const event of turnEvents(env, name, turn, 0, false, signal, recheck))
    if (event.event === "done") return event.data;
    else if (event.event === "probe") probe();
  return undefined;
}

/** The events of a turn as server-sent events: `id:` is the seq, which a client sends back as `Last-Event-ID`. */
export function turnStream(
  env: Env,
  name: string,
  turn: StartedTurn,
  after: number,
  hangup: AbortSignal,
  recheck: Recheck,
): ReadableStream<Uint8Array> {
  return eventStream(hangup, async (write, gone) => {
    for await (const event of turnEvents(env, name, turn, after, true, gone, recheck)) write(sse(event));
  });
}

function sse(event: TurnEvent): string {
  const id = "id" in event ? `id: ${event.id}\n` : "";
  return `${id}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
