/** What paired agents say of the conditions of rules that act, in their signed presence. An older presence never counts, also after a start. */
import type { AutomationCondition } from "@edgecall/core/protocol/automation.ts";
import type { Truths } from "@edgecall/core/protocol/rules.ts";

/** An agent's newest presence. @property n its number @property truths undefined: the agent is offline, or says nothing of conditions */
export type AgentSaid = { n: number; truths: Truths | undefined };

/** @returns undefined: the agent with this key has said nothing that counts */
export type AgentSays = (agent: string, key: string) => AgentSaid | undefined;

export class AgentTruths {
  readonly #says: AgentSays;
  /** The number of the newest presence of each agent that conditions are of, by its key. */
  readonly #newest: Map<string, number>;

  /** @param newest as `content` gave it */
  constructor(says: AgentSays, newest: Readonly<Record<string, number>>) {
    this.#says = says;
    this.#newest = new Map(Object.entries(newest));
  }

  /** The part of the file. */
  get content(): Record<string, number> {
    return Object.fromEntries(this.#newest);
  }

  /** Forgets agents that no condition is of. @returns whether anything is to be kept that was not */
  look(conditions: readonly AutomationCondition[]): boolean {
    const before = JSON.stringify(this.content);
    const agents = new Map(
      conditions.flatMap(({ of, key, agent }) => (of === "agent" ? [[key, agent]] : [])),
    );
    for (const key of this.#newest.keys()) if (!agents.has(key)) this.#newest.delete(key);
    for (const [key, agent] of agents) {
      const n = this.#says(agent, key)?.n ?? 0;
      if (n > (this.#newest.get(key) ?? -1)) this.#newest.set(key, n);
    }
    return JSON.stringify(this.content) !== before;
  }

  /** @returns whether it is so, and by which value; undefined: not known */
  of({ agent, key, condition: { id, version } }: AutomationCondition): Truths[string] | undefined {
    const said = this.#says(agent, key);
    if (!said || said.n < (this.#newest.get(key) ?? 0)) return undefined;
    const truth = said.truths && Object.hasOwn(said.truths, id) ? said.truths[id] : undefined;
    return truth?.version === version ? truth : undefined;
  }
}
