/** Asks scripted turns over HTTP, and checks that each did its calls. */
import { TOKENS } from "../test/tokens.ts";
import type { ActionCall, Endpoint, TurnTimes } from "./endpoint.ts";
import { poster } from "./http.ts";

export type Asker = {
  /**
   * Asks one turn that calls these batches.
   * @returns `took`: milliseconds of the whole request
   * @throws when it is not done, or a call did not succeed
   */
  ask(conversation: string, batches: readonly ActionCall[][]): Promise<{ took: number; times: TurnTimes }>;
  close(): void;
};

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
      const result = JSON.parse(body) as { status: string; calls: Array<{ status: string }> };
      const well = result.calls.filter((call) => call.status === "success").length;
      if (result.status !== "done" || well !== calls || times.calls.length !== batches.length)
        throw new Error(`a turn did not do its ${calls} calls: ${body.slice(0, 500)}`);
      return { took, times };
    },
  };
}
