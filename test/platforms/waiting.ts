/** Waits until a chat shows something. */
import { until } from "../wait.ts";
import type { SentMessage } from "./person.ts";
import type { ChatMessage } from "./server.ts";

const WITHIN_MS = 20_000;

export function waitForMessage(
  sent: SentMessage,
  what: (message: ChatMessage) => boolean,
  name: string,
  within = WITHIN_MS,
): Promise<ChatMessage> {
  return until(() => sent.messages().find(what), { within, what: name });
}

export function waitForText(
  sent: SentMessage,
  text: string | RegExp,
  within = WITHIN_MS,
): Promise<ChatMessage> {
  return waitForMessage(
    sent,
    (message) => (typeof text === "string" ? message.text.includes(text) : text.test(message.text)),
    `'${text}' in the chat`,
    within,
  );
}
