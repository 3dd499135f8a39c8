/** A kind of command: how it is checked, recorded and run. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { Reply } from "../link/reports.ts";
import type { CommandCall } from "./command.ts";

/** By the name of the command. `cancel`, `answer` and `ack` act on other commands: see inbox.ts. */
export type Commands = ReadonlyMap<string, CommandKind>;

export type CommandKind = {
  /**
   * - `look`: changes nothing and is quick. A repetition is simply answered again.
   * - `work`: goes through the ledger, and publishes `accepted` first.
   */
  kind: "look" | "work";
  /** True if it may run again after a crash. Default: true for a look, false for work. */
  idempotent?(command: Command): boolean;
  /** The budget of a command that came without one. Default: see budget.ts. */
  maxMs?: number;
  /** @returns what is wrong with the payload, in words */
  problem?(command: Command): string | undefined;
  run(call: CommandCall): Promise<Reply> | Reply;
};
