/** Follows one turn from its question to its end. The client reconnects when the connection is lost. */
import { turnEvents as follow, type TurnEvent } from "@edgecall/client/turns.ts";
import type { Gateway } from "./gateway.ts";

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
    yield* follow(gateway.client, conversation, message, signal);
  } catch (error) {
    throw gateway.errorOf(error);
  }
}
