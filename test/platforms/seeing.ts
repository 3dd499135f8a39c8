/** Waits until a chat shows something. */
import { until } from "../wait.ts";
import type { Said } from "./person.ts";
import type { Shown } from "./server.ts";

const WITHIN_MS = 20_000;

export function shows(said: Said, what: (shown: Shown) => boolean, name: string): Promise<Shown> {
  return until(() => said.shown().find(what), { within: WITHIN_MS, what: name });
}

export function saying(said: Said, text: string | RegExp): Promise<Shown> {
  return shows(
    said,
    (shown) => (typeof text === "string" ? shown.text.includes(text) : text.test(shown.text)),
    `'${text}' in the chat`,
  );
}
