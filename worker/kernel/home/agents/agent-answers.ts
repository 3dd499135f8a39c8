/** Reports that only Home waits for, while it runs. They belong to no call. */
import { slot } from "../slot.ts";

type Waiting = { agent: string; done: (payload: Record<string, unknown>) => void };

class AgentAnswers {
  /** By the command's id. */
  readonly #waiting = new Map<string, Waiting>();

  /** A report came. @returns false: nobody waits for it here */
  answered(id: string, agent: string, payload: Record<string, unknown>): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting?.agent !== agent) return false;
    waiting.done(payload);
    return true;
  }

  /** @returns undefined: it did not answer in time */
  async expect(id: string, agent: string, withinMs: number): Promise<Record<string, unknown> | undefined> {
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown> | undefined>();
    const timer = setTimeout(() => resolve(undefined), withinMs);
    this.#waiting.set(id, { agent, done: resolve });
    const payload = await promise;
    clearTimeout(timer);
    this.#waiting.delete(id);
    return payload;
  }
}

export const agentAnswersOf = slot(() => new AgentAnswers());
