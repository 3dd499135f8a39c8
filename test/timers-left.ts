/** Counts timers that work leaves behind. */
import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";

/**
 * Does the work, by the real clock. @returns how many timers it has set that are neither over nor cleared. Those of other test files do
 * not count: they share this process, and some of what they used ends later.
 */
export async function timersLeftBy(work: () => Promise<unknown>): Promise<number> {
  const own = new AsyncLocalStorage<true>();
  const left = new Set<number>();
  const hook = createHook({
    init(id, type) {
      if (type === "Timeout" && own.getStore()) left.add(id);
    },
    destroy(id) {
      left.delete(id);
    },
  }).enable();
  try {
    await own.run(true, work);
    // `destroy` comes in a later turn of the event loop.
    await setImmediate();
    return left.size;
  } finally {
    hook.disable();
  }
}
