/** Test files of `worker` share a workerd: each of them leaves it without any home and conversation, and with the true clock. */
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, expect, vi } from "vitest";

const prototype = Object.getPrototypeOf(env.HOME) as typeof env.HOME;
const { getByName } = prototype;
/** The names of the objects that the Worker or a test reached. A home's has no slash. */
const reached = new Set<string>();

beforeAll(() => {
  prototype.getByName = function (this: typeof env.HOME, name, options) {
    reached.add(name);
    return getByName.call(this, name, options);
  };
});

afterAll(async () => {
  prototype.getByName = getByName;
  // `reset` leaves out objects that sleep, as they do after 10 s: the next file would find their rows.
  const woken = [...reached].map((name) =>
    runInDurableObject((name.includes("/") ? env.CONVERSATION : env.HOME).getByName(name), () => {}),
  );
  // One that a test left unable to start is awake all the same.
  await Promise.allSettled(woken);
  await reset();
  expect(vi.isFakeTimers(), "a test left the clock that it had set").toBe(false);
});
