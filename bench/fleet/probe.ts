/** Asks a home for its status again and again: the longest answer shows how long it was deaf. */
import { setTimeout as sleep } from "node:timers/promises";
import { TOKENS } from "../../test/tokens.ts";

/** The pause between an answer and the next question. At 20 ms the questions took half of workerd's time. */
const EVERY_MS = 50;

export type Probe = {
  /** How many agents the last answer called online. */
  online(): number;
  /** Milliseconds of the longest answer since the last call, the one under way included. */
  longest(): number;
  stop(): Promise<void>;
};

export function startProbe(url: string): Probe {
  let online = 0;
  let longest = 0;
  let began = performance.now();
  let isStopped = false;
  const headers = { authorization: `Bearer ${TOKENS.owner}` };
  const running = (async () => {
    while (!isStopped) {
      began = performance.now();
      try {
        const answer = await fetch(`${url}/v1/status`, { headers });
        const status = (await answer.json()) as { agents: { online: number } };
        online = status.agents.online;
      } catch {
        // A home that does not answer is deaf for as long as this took.
      }
      longest = Math.max(longest, performance.now() - began);
      await sleep(EVERY_MS);
      began = performance.now();
    }
  })();
  return {
    online: () => online,
    longest() {
      const value = Math.max(longest, performance.now() - began);
      longest = 0;
      return value;
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
