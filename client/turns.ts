/** Asks the gateway, follows the turn to its end over lost connections, and answers what its devices ask. */
import { type Client, type EventOf, NoAnswerError, ResponseError, SILENT } from "./client.ts";
import type { Routes, TurnQuestion, TurnResult } from "./routes.ts";

type SendRoute = "POST /v1/conversations/{id}/messages";
export type Message = Routes[SendRoute]["body"];
/** An event of a turn, as the gateway sends it; `turn` comes first. */
export type TurnEvent = EventOf<SendRoute>;

/** The number of attempts in a row to attach again: about a minute in all. */
const TRIES = 15;
/** Until the turn is known, a person waits for whether the gateway is there at all: a second. */
const FIRST_TRIES = 2;
/** Most breaks are short. Each further pause doubles, up to the last. */
const PAUSE_MS = 300;
const PAUSE_MAX_MS = 5_000;
/** A gateway that wants a longer pause has its refusal passed on. */
const RETRY_AFTER_MAX_S = 60;
/** A connection that stood for so long was in order. A turn may wait for hours for a person, over proxies that end each connection. */
const STEADY_MS = 15_000;

/**
 * Sends a message and yields the events of its turn to the end. The message goes out with one idempotency key, so a lost
 * connection never asks twice. After a lost connection a `reset` comes: what the deltas since the last message said is void.
 * @param signal stops following; the turn goes on
 * @throws ResponseError, NoAnswerError when the turn cannot be found again
 */
export async function* turnEvents(
  client: Client,
  conversation: string,
  message: Message,
  signal?: AbortSignal,
): AsyncGenerator<TurnEvent> {
  const key = crypto.randomUUID();
  const at = { id: conversation };
  let turn: string | undefined;
  let seen: number | undefined;
  for (let tries = 0; ; tries += 1) {
    const events =
      turn === undefined
        ? client.events("POST /v1/conversations/{id}/messages", {
            path: at,
            body: message,
            headers: { "idempotency-key": key },
            signal,
          })
        : client.events("GET /v1/conversations/{id}/turns/{turn}/events", {
            path: { ...at, turn },
            headers: { "last-event-id": seen },
            signal,
          });
    const since = performance.now();
    let wait = 0;
    let isSilent = false;
    try {
      for await (const event of events) {
        // Each attempt repeats some events, so only a new one is progress.
        if ("id" in event && event.id !== undefined) {
          if (seen === undefined || event.id > seen) tries = 0;
          seen = event.id;
        }
        if (event.event === "turn") turn = event.data.turn;
        yield event;
        if (event.event === "done") return;
      }
    } catch (error) {
      if (signal?.aborted || tries >= triesOf(turn) || !mayPass(error)) throw error;
      wait = (error instanceof ResponseError && error.retryAfter) || 0;
      isSilent = error instanceof NoAnswerError && error.cause === SILENT;
    }
    if (turn !== undefined && !isSilent && performance.now() - since >= STEADY_MS) tries = 0;
    if (tries >= triesOf(turn)) throw new NoAnswerError("the answer was lost");
    await pause(Math.max(wait * 1_000, Math.min(PAUSE_MS * 2 ** tries, PAUSE_MAX_MS)), signal);
    // The gateway repeats the text of the unfinished step.
    if (turn !== undefined) yield { event: "reset", data: {} };
  }
}

/**
 * Sends a message that others follow, or nobody. It is sent again under its key when the answer is lost.
 * @returns the id of its turn
 * @throws ResponseError, NoAnswerError
 */
export async function startTurn(client: Client, conversation: string, message: Message): Promise<string> {
  for await (const event of turnEvents(client, conversation, message))
    if (event.event === "turn") return event.data.turn;
  throw new NoAnswerError("the gateway told no turn");
}

/**
 * Asks, and waits for the turn's end.
 * @param options.answer is called for each question or approval of a device; undefined leaves it to others
 * @param options.text is called with the answer's text as it comes
 * @throws ResponseError, NoAnswerError
 */
export async function ask(
  client: Client,
  conversation: string,
  message: Message,
  options: {
    answer?: (question: TurnQuestion) => string | undefined | Promise<string | undefined>;
    text?: (text: string) => void;
    signal?: AbortSignal;
  } = {},
): Promise<TurnResult> {
  const asked = new Set<string>();
  for await (const event of turnEvents(client, conversation, message, options.signal)) {
    if (event.event === "done") return event.data;
    if (event.event === "delta") options.text?.(event.data.text);
    // A question comes again with its answer, and when more people are asked.
    if (event.event !== "question" || asked.has(event.data.id) || event.data.answer !== undefined) continue;
    asked.add(event.data.id);
    const answer = await options.answer?.(event.data);
    if (answer === undefined) continue;
    await client
      .json("POST /v1/questions/{id}", { path: { id: event.data.id }, body: { answer } })
      .catch((error: unknown) => {
        // Somebody else was faster, or its time has ended.
        if (!(error instanceof ResponseError) || ![404, 409, 410].includes(error.status)) throw error;
      });
  }
  throw new NoAnswerError("the gateway told no end of the turn");
}

function triesOf(turn: string | undefined): number {
  return turn === undefined ? FIRST_TRIES : TRIES;
}

/** True if the next attempt may succeed: nothing answered, a gateway that starts anew, or one that had too many requests. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof ResponseError)) return error instanceof NoAnswerError;
  const { status, retryAfter = 0 } = error;
  return (status > 500 || status === 429) && retryAfter <= RETRY_AFTER_MAX_S;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
  });
}
