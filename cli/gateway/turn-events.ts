/** Follows one turn from its question to its end, and reconnects when the connection is lost. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffMs } from "@edgecall/core/backoff.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { sentEvents } from "./event-stream.ts";
import { type Gateway, GatewayError } from "./gateway.ts";
import { Call, Question, Turn } from "./shapes.ts";

/** The gateway sends something every 15 s. After three times that, the connection is dead. */
const SILENCE_MS = 45_000;
/** The number of attempts in a row to attach again: about a minute in all. */
const TRIES = 15;
/** The first pause is short, since most breaks are. Each further pause doubles, up to the last. */
const PAUSES: Backoff = { baseMs: 300, capMs: 5_000 };

export type TurnEvent =
  | { event: "turn"; turn: string }
  /** `at`: the number of characters of this step that came before. */
  | { event: "delta"; text: string; at: number }
  /** The deltas since the last message are void. */
  | { event: "reset" }
  | { event: "message"; calls: Call[] }
  | { event: "call"; call: Call }
  | { event: "waiting"; until: number; text: string }
  | { event: "progress"; text: string }
  | { event: "question"; question: Question }
  | { event: "done"; turn: Turn };

const SHAPES = {
  delta: z.looseObject({ text: z.string(), at: z.number() }),
  message: z.looseObject({ calls: z.array(Call) }),
  waiting: z.looseObject({ until: z.number(), text: z.string() }),
  progress: z.looseObject({ text: z.string() }),
};

/**
 * Asks, and follows the turn to its end.
 * @param signal stops following; the turn goes on
 * @throws GatewayError when the question fails, or the turn was lost and not found again
 */
export async function* turnEvents(
  gateway: Gateway,
  conversation: string,
  message: { text: string; model?: string },
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  const path = `/v1/conversations/${encodeURIComponent(conversation)}`;
  // The same key makes a repeated question the same turn.
  const headers = { accept: "text/event-stream", "idempotency-key": crypto.randomUUID() };
  let turn: string | undefined;
  let seen = "0";
  let tries = 0;
  for (;;) {
    const line = new Line(signal);
    try {
      const response: Response =
        turn === undefined
          ? await gateway.open(`${path}/messages`, {
              method: "POST",
              body: message,
              headers,
              signal: line.signal,
            })
          : await gateway.open(`${path}/turns/${turn}/events`, {
              headers: { accept: "text/event-stream", "last-event-id": seen },
              signal: line.signal,
            });
      const named = response.headers.get("edgecall-turn");
      if (turn === undefined && named !== null) {
        turn = named;
        yield { event: "turn", turn };
      }
      if (!response.body) throw new GatewayError("foreign", `${gateway.url} sent no events`);
      for await (const { event, data, id } of sentEvents(response.body, () => line.received())) {
        tries = 0;
        if (id !== undefined) seen = id;
        const read = readEvent(event, data);
        if (read) yield read;
        if (read?.event === "done") return;
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // The turn was refused, or the problem is not the connection: repeating would not help.
      const lost = !(error instanceof GatewayError) || ["unreachable", "failed"].includes(error.kind);
      if (!lost || turn === undefined || tries === TRIES) throw error;
    } finally {
      line.end();
    }
    if (tries === TRIES) throw new GatewayError("unreachable", `${gateway.url}: the answer was lost`);
    await sleep(backoffMs(PAUSES, tries), undefined, { signal });
    tries += 1;
    // The gateway repeats the text of the unfinished step.
    yield { event: "reset" };
  }
}

/** Ends a connection that has been silent for too long. */
class Line {
  readonly #silent = new AbortController();
  #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor(outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#silent.signal]);
    this.#timer = this.#start();
  }

  received(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#silent.abort();
  }

  #start(): NodeJS.Timeout {
    return setTimeout(
      () => this.#silent.abort(new DOMException("the connection was silent", "TimeoutError")),
      SILENCE_MS,
    );
  }
}

/** Unknown events of a later gateway are skipped. */
function readEvent(event: string, data: string): TurnEvent | undefined {
  switch (event) {
    case "delta": {
      const { text, at } = read(SHAPES.delta, data);
      return { event, text, at };
    }
    case "reset":
      return { event };
    case "message":
      return { event, calls: read(SHAPES.message, data).calls };
    case "waiting": {
      const { until, text } = read(SHAPES.waiting, data);
      return { event, until, text };
    }
    case "progress":
      return { event, text: read(SHAPES.progress, data).text };
    case "call":
      return { event, call: read(Call, data) };
    case "question":
      return { event, question: read(Question, data) };
    case "done":
      return { event, turn: read(Turn, data) };
    default:
      return undefined;
  }
}

function read<T>(schema: z.ZodMiniType<T>, data: string): T {
  const parsed = checkJson(schema, data);
  if (parsed.ok) return parsed.value;
  throw new GatewayError("foreign", `the gateway sent an event that cannot be read: ${parsed.error}`);
}
