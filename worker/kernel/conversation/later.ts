import { logError } from "../log.ts";

/** Keeps the object up for work that nobody waits for, and that may be lost in a crash. @param name of the conversation */
export function runLater(ctx: DurableObjectState, name: string, work: Promise<unknown>): void {
  ctx.waitUntil(work.catch((error: unknown) => logError("later.failed", error, { conversation: name })));
}
