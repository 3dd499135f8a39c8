/**
 * Whether this agent can write to its state folder. Without the record of commands it refuses everything but reads, so a
 * person has to know of a full disk or a read-only card before something is refused.
 */
import { access, constants, mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Condition, conditionOf } from "@edgecall/core/conditions/conditions.ts";
import { messageOf } from "@edgecall/node/log.ts";

/** With less free space than this, only a write shows whether there is room. */
const ROOM_BYTES = 64 * 1024;
/** A page, which a disk without room does not take. */
const TRIED_BYTES = 4_096;
const TRIED_FILE = "room.next";

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
    if (error !== undefined) this.#set(conditionFor(this.#dir, error));
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

/**
 * @param tries it may write a page to find out @param inDoubt it writes one even where nothing looks wrong
 * @returns undefined: the folder can be written
 */
export async function findStateDisk(
  dir: string,
  { tries, inDoubt = false }: { tries: boolean; inDoubt?: boolean },
): Promise<Condition | undefined> {
  try {
    if (tries) await mkdir(dir, { recursive: true, mode: 0o700 });
    await access(dir, constants.W_OK);
    const { bavail, bsize } = await statfs(dir);
    if (tries && (inDoubt || bavail * bsize < ROOM_BYTES)) await tryWrite(dir);
    return undefined;
  } catch (error) {
    return conditionFor(dir, error);
  }
}

async function tryWrite(dir: string): Promise<void> {
  const path = join(dir, TRIED_FILE);
  try {
    const file = await open(path, "w", 0o600);
    try {
      await file.writeFile(Buffer.alloc(TRIED_BYTES));
      await file.datasync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}

function conditionFor(path: string, error: unknown): Condition {
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  const params = { path, error: code || messageOf(error) };
  if (code === "ENOSPC" || code === "EDQUOT") return conditionOf("disk_full", params);
  return conditionOf(code === "EROFS" ? "disk_read_only" : "state_unwritable", params);
}
