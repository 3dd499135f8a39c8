/**
 * Whether this agent can write to its state folder. Without the record of commands it refuses everything but reads, so a
 * person has to know of a full disk or a read-only card before something is refused.
 */
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { findUnwritable, type Look, unwritableBy, unwritableCondition } from "@edgecall/node/writable.ts";

export class StateDisk {
  readonly #dir: string;
  readonly #onChange: () => void;
  #condition: Condition | undefined;
  #looking: Promise<void> | undefined;

  /** @param onChange the condition came, went or is another one */
  constructor(dir: string, onChange: () => void) {
    this.#dir = dir;
    this.#onChange = onChange;
  }

  get condition(): Condition | undefined {
    return this.#condition;
  }

  /** The ledger has written, or could not. */
  wrote(error: unknown): void {
    if (error !== undefined) this.#set(unwritableCondition("state", unwritableBy(this.#dir, error)));
    else if (this.#condition) void this.look();
  }

  /** Looks now. A card is written to only when there is a doubt. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    this.#set(await findStateDisk(this.#dir, { tries: true, inDoubt: this.#condition !== undefined }));
  }

  #set(condition: Condition | undefined): void {
    const before = JSON.stringify(this.#condition);
    this.#condition = condition;
    if (JSON.stringify(condition) !== before) this.#onChange();
  }
}

/** @returns undefined: the folder can be written */
export async function findStateDisk(dir: string, look: Look): Promise<Condition | undefined> {
  const found = await findUnwritable(dir, look);
  return found && unwritableCondition("state", found);
}
