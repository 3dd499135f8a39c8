/** Follows one turn from its question to its end. The client reconnects when the connection is lost. */
import { turnEvents as follow } from "@edgecall/client/turns.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { type Gateway, GatewayError } from "./gateway.ts";
import { Call, Question, Turn } from "./shapes.ts";

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
  turn: z.looseObject({ turn: z.string() }),
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
  try {
    for await (const { event, data } of follow(gateway.client, conversation, message, signal)) {
      const read = readEvent(event, data);
      if (read) yield read;
    }
  } catch (error) {
    throw gateway.errorOf(error);
  }
}

/** Unknown events of a later gateway are skipped. */
function readEvent(event: string, data: unknown): TurnEvent | undefined {
  switch (event) {
    case "turn":
      return { event, turn: read(SHAPES.turn, data).turn };
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

function read<T>(schema: z.ZodMiniType<T>, data: unknown): T {
  const parsed = check(schema, data);
  if (parsed.ok) return parsed.value;
  throw new GatewayError("foreign", `the gateway sent an event that cannot be read: ${parsed.error}`);
}
