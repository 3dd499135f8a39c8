/** A kind of command: how it is checked, recorded and run. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { Reply } from "../link/reports.ts";
import type { CommandCall } from "./command.ts";
import type { Device } from "./device.ts";

export type CommandKind = {
  /**
   * - `look`: changes nothing and is quick. A repetition is simply answered again.
   * - `work`: goes through the ledger, and publishes `accepted` first.
   */
  kind: "look" | "work";
  /** True if it may run again after a crash. Default: true for a look, false for work. */
  idempotent?(command: Command, device: Device): boolean;
  /** @returns what is wrong with the payload, in words */
  problem?(command: Command): string | undefined;
  run(call: CommandCall, device: Device): Promise<Reply> | Reply;
};
