/** Asks the gateway, follows the turn to its end over lost connections, and answers what its devices ask. */
import { type Client, type EventOf, NoAnswerError, ResponseError } from "./client.ts";
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
    try {
      for await (const event of events) {
        tries = 0;
        if ("id" in event) seen = event.id;
        if (event.event === "turn") turn = event.data.turn;
        yield event;
        if (event.event === "done") return;
      }
    } catch (error) {
      if (signal?.aborted || tries >= triesOf(turn) || !mayPass(error)) throw error;
    }
    if (tries >= triesOf(turn)) throw new NoAnswerError("the answer was lost");
    await pause(Math.min(PAUSE_MS * 2 ** tries, PAUSE_MAX_MS), signal);
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
    // A second event of a question says that it is answered.
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

/** True if the next attempt may succeed: nothing answered, or a gateway that starts anew. */
function mayPass(error: unknown): boolean {
  return error instanceof NoAnswerError || (error instanceof ResponseError && error.status > 500);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
