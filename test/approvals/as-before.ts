/** The control: when 0.3.0 asked about a change. Its first yes to a device allowed all harmless changes of it, to everybody, for good. */
import type { Change } from "./workload.ts";

export class AsBefore {
  readonly #allowed = new Set<string>();

  /** @returns true if it asked, and was told yes */
  asks({ device, action }: Change, tainted: boolean): boolean {
    const isHarmful = action === "unlock" || action === "bash";
    const asks = isHarmful || tainted || !this.#allowed.has(device);
    if (asks && !isHarmful && !tainted) this.#allowed.add(device);
    return asks;
  }
}
