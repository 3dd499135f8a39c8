/** Asks scripted turns over HTTP, and checks that each did its calls. */
import { TOKENS } from "../test/tokens.ts";
import type { Endpoint, ModelCall, TurnTimes } from "./endpoint.ts";
import { poster } from "./http.ts";

export type Asker = {
  /**
   * Asks one turn that calls these batches.
   * @returns `took`: milliseconds of the whole request
   * @throws when it is not done, or a call did not succeed, of an agent's own loop too
   */
  ask(conversation: string, batches: readonly ModelCall[][]): Promise<{ took: number; times: TurnTimes }>;
  close(): void;
};

/** `calls`: of its agent's own loop. */
type Called = { status: string; calls?: Called[] };

function isSuccess({ status, calls = [] }: Called): boolean {
  return status === "success" && calls.every(isSuccess);
}

/** Calls of one turn where calls are measured: most of its time is then the call path, and its history stays short. */
export const CALLS_OF_A_TURN = 4;

/** After this many turns a new conversation starts, because a long history would measure JSON. */
const TURNS_OF_A_CONVERSATION = 5;

/** Returns the conversation of a slot's next turn. */
export function conversations(): (slot: number) => string {
  let started = 0;
  const current = new Map<number, { name: string; turns: number }>();
  return (slot) => {
    const known = current.get(slot);
    if (known && known.turns < TURNS_OF_A_CONVERSATION) {
      known.turns += 1;
      return known.name;
    }
    started += 1;
    const name = `bench-${started}`;
    current.set(slot, { name, turns: 1 });
    return name;
  };
}

/** @param atOnce turns that run at the same time at most @param token of the home that is asked */
export function startAsker(url: string, endpoint: Endpoint, atOnce: number, token = TOKENS.owner): Asker {
  const { post, close } = poster(url, atOnce);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return {
    close,
    async ask(conversation, batches) {
      const calls = batches.flat().length;
      const { text, times } = endpoint.script(batches);
      const began = performance.now();
      const { status, body } = await post(
        `/v1/conversations/${conversation}/messages`,
        JSON.stringify({ text }),
        headers,
      );
      const took = performance.now() - began;
      if (status !== 200) throw new Error(`a turn was answered with ${status}: ${body.slice(0, 500)}`);
      const result = JSON.parse(body) as { status: string; calls: Called[] };
      const isWell = result.calls.length === calls && result.calls.every(isSuccess);
      if (result.status !== "done" || !isWell || times.calls.length !== batches.length)
        throw new Error(`a turn did not do its ${calls} calls: ${body.slice(0, 500)}`);
      return { took, times };
    },
  };
}
