/** The texts of agents that Home has, by their hashes, so that the bridge sends only what Home lacks. */
import { type AgentState, TEXT_KINDS, type TextKind } from "@edgecall/core/protocol/frames.ts";
import type { StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { hashOf } from "../broker/text-hash.ts";

type Hashes = Partial<Record<TextKind, string | undefined>>;

export class SentTexts {
  readonly #hashes: Map<string, Hashes>;

  /** @param stored as Home says it */
  constructor(stored: readonly StoredTexts[]) {
    this.#hashes = new Map(stored.map(({ id, ...hashes }) => [id, hashes]));
  }

  /** Leaves out the texts that Home has. From here on Home has the others, too. */
  without(state: AgentState): AgentState {
    const known = this.#hashes.get(state.id) ?? {};
    const hashes: Hashes = {};
    const kept: TextKind[] = [];
    const { ...lean } = state;
    for (const kind of TEXT_KINDS) {
      const text = state[kind];
      if (text === undefined) continue;
      const hash = hashOf(text);
      hashes[kind] = hash;
      if (known[kind] !== hash) continue;
      kept.push(kind);
      delete lean[kind];
    }
    this.#hashes.set(state.id, hashes);
    return kept.length > 0 ? { ...lean, kept } : lean;
  }

  /** Home does not have this agent's texts. */
  forget(id: string): void {
    this.#hashes.delete(id);
  }
}
