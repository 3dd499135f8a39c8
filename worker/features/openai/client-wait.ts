/** How long a client waits for an answer: `edge.wait` of its request, or the model for voice. */
import type { Context } from "hono";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { EXPECTED_WAIT, isWait } from "../../kernel/http/wait.ts";
import { readSettings } from "../../kernel/settings/settings.ts";
import type { SortedMessages } from "./client-messages.ts";
import { VOICE_NAME } from "./models.ts";

const SPOKEN = "Your answer is read aloud: one or two short sentences, no Markdown, no lists.";

type WaitFields = { model?: string | null | undefined; edge?: unknown };

/** @returns seconds; undefined: to the end @throws HttpError 400 naming the field */
export function clientWait(c: Context<App>, { model, edge }: WaitFields): number | undefined {
  if (typeof edge !== "object" || Array.isArray(edge)) {
    if (edge !== undefined) throw refused("edge", 'expected an object, such as {"wait": 15}');
  } else if (edge !== null) {
    const { wait, ...others } = edge as { wait?: unknown };
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw refused(`edge.${other.slice(0, 40)}`, "there is no such field; there is: wait");
    if (wait !== undefined && !isWait(wait)) throw refused("edge.wait", EXPECTED_WAIT);
    if (wait !== undefined) return wait;
  }
  return model === VOICE_NAME ? readSettings(c.env).voiceWaitS : undefined;
}

/** Adds what a voice needs to the instructions. */
export function forVoice(sorted: SortedMessages, model: string | null | undefined): SortedMessages {
  if (model !== VOICE_NAME) return sorted;
  return { ...sorted, instructions: [sorted.instructions, SPOKEN].filter(Boolean).join("\n\n") };
}

function refused(param: string, message: string): HttpError {
  return new HttpError(400, "invalid_body", `${param}: ${message}`, param);
}
