/** Tries a model, and tells each thing as it is found: `npm run try-model` without its flows, which need a home of their own. */
import type { Fetch } from "@edgecall/core/loop/model.ts";
import type { NamedModel } from "@edgecall/core/loop/models.ts";
import { ModelError } from "@edgecall/core/loop/retry.ts";
import { findHabits, type Habit } from "@edgecall/core/try-model/habits.ts";
import { verdictOf } from "@edgecall/core/try-model/verdict.ts";
import { windowText } from "@edgecall/core/try-model/window.ts";

/** An event of a trial: what was found, and at the end whether the model is good enough. */
export type ModelTrialEvent =
  | { event: "habit"; data: { habit: string; seen: string; edgecall: string; bad: boolean } }
  | { event: "window"; data: { text: string } }
  | { event: "verdict"; data: { good: boolean; text: string } };

/** A client takes a longer silence for a dead connection (client/client.ts), and a model at home loads first. */
const SIGN_MS = 10_000;

/**
 * @param own reaches the model where no address does (Cloudflare's own)
 * @param signal of the client: it ends the requests to the model
 * @returns server-sent events
 */
export function trialStream(
  model: NamedModel,
  own: Fetch | undefined,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  let signs: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    async start(out) {
      const write = (text: string) => out.enqueue(encoder.encode(text));
      const tell = ({ event, data }: ModelTrialEvent) =>
        write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      signs = setInterval(() => write(": it goes on\n\n"), SIGN_MS);
      try {
        await tryModel(model, own, AbortSignal.any([signal, gone.signal]), tell);
        out.close();
      } catch {
        // The client is gone, and nobody reads what follows.
        if (!gone.signal.aborted) out.close();
      } finally {
        clearInterval(signs);
      }
    },
    cancel() {
      // Before the trial has ended: its stream takes nothing more.
      clearInterval(signs);
      gone.abort();
    },
  });
}

async function tryModel(
  model: NamedModel,
  own: Fetch | undefined,
  signal: AbortSignal,
  tell: (event: ModelTrialEvent) => void,
): Promise<void> {
  const onFound = ({ habit, seen, edgecall, isBad }: Habit) =>
    tell({ event: "habit", data: { habit, seen, edgecall, bad: isBad === true } });
  try {
    const habits = await findHabits(model, { ...(own && { fetch: own }), onFound, signal });
    const apiKey = typeof model.apiKey === "string" ? model.apiKey : "";
    tell({
      event: "window",
      data: { text: await windowText({ baseUrl: model.baseUrl, name: model.model, apiKey }) },
    });
    const { isGood, text } = verdictOf(habits, []);
    tell({ event: "verdict", data: { good: isGood, text } });
  } catch (error) {
    if (signal.aborted || !(error instanceof ModelError)) throw error;
    tell({ event: "verdict", data: { good: false, text: error.message } });
  }
}
