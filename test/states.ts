/** Tables of states. Each state is produced twice, and the object is stopped in it by an eviction and by a crash. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, test } from "vitest";
import { type How, stop } from "./stopping.ts";
import { AGENTS } from "./turns.ts";
import { until } from "./wait.ts";
import { TestBridge } from "./workerd.ts";

const HOWS: readonly How[] = ["evict", "abort"];
/** A waiting client returns a second after a crash, an alarm after two; the rest is for a busy machine. */
const WITHIN_MS = 20_000;

/** What lives on between a test's brought-about state and its end. */
type Trial = {
  how: How;
  /** The id of a conversation that only this test uses. */
  id: string;
};

export type ConversationTrial = Trial & {
  bridge: TestBridge;
  /** Stops the conversation. @param release releases what holds it in its state */
  stop(release?: () => unknown): Promise<void>;
};

export type HomeTrial = Trial & {
  /** The bridge before the stop. */
  first: TestBridge;
  /**
   * Stops the home, and with a crash the bridge's socket.
   * @param release opens what holds it in its state
   * @returns the bridge from here on: an eviction keeps its socket, after a crash it has dialled again
   */
  stop(release?: () => unknown): Promise<TestBridge>;
};

export type States<T> = Record<string, (trial: T) => Promise<void>>;

export function conversationOf(id: string) {
  return env.CONVERSATION.getByName(`a/api/${id}`);
}

export function theHome() {
  return env.HOME.getByName("a");
}

export function stopConversationWhile(states: States<ConversationTrial>): void {
  describe.each(HOWS)("%s of a conversation while", (how) => {
    // Each row has its own home.
    afterEach(reset);
    test.each(Object.entries(states))(
      "%s",
      async (_, run) => {
        const id = crypto.randomUUID();
        const bridge = await TestBridge.connect(AGENTS);
        await run({ how, id, bridge, stop: (release) => stop(how, conversationOf(id), release) });
      },
      WITHIN_MS,
    );
  });
}

export function stopHomeWhile(states: States<HomeTrial>): void {
  describe.each(HOWS)("%s of a home while", (how) => {
    afterEach(reset);
    test.each(Object.entries(states))(
      "%s",
      async (_, run) => {
        const first = await TestBridge.connect(AGENTS);
        const stopHome = async (release?: () => unknown) => {
          await stop(how, theHome(), release);
          if (how === "evict") return first;
          await until(() => first.closed, { what: "the crash closes the bridge's socket" });
          return await TestBridge.connect(AGENTS);
        };
        await run({ how, id: crypto.randomUUID(), first, stop: stopHome });
      },
      WITHIN_MS,
    );
  });
}
