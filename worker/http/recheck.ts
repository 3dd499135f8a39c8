/** Asks, while a response lasts, whether its caller may still read it. */
import { HttpError } from "./errors.ts";

/** How often. An object, so that a test can set it. */
export const RECHECK = { everyMs: 30_000 };

/** Throws HttpError once the token has ended, or the caller may no longer see the conversation. */
export type Recheck = () => Promise<unknown>;

/** @returns a signal that also fires when the caller may no longer read; `end` stops the checks */
export function whileAllowed(signal: AbortSignal, recheck: Recheck | undefined) {
  const stop = new AbortController();
  const ask = async () => {
    try {
      await recheck?.();
    } catch (error) {
      // After any other error the object is being replaced; the next check tells.
      if (error instanceof HttpError) stop.abort();
    }
  };
  const timer = recheck && setInterval(() => void ask(), RECHECK.everyMs);
  return { signal: AbortSignal.any([signal, stop.signal]), end: () => clearInterval(timer) };
}
