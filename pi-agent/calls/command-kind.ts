/** A kind of command of the wire: how it is checked, recorded and run. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { Reply } from "../link/reports.ts";
import type { CommandCall } from "./command.ts";
import type { Device } from "./device.ts";

export type CommandKind = {
  /**
   * - `look`: changes nothing and is quick; asked again, it is simply answered again.
   * - `work`: goes through the ledger, and says `accepted` first.
   */
  kind: "look" | "work";
  /** Safe to run again after a crash. Left out: yes for a look, no for work. */
  idempotent?(command: Command, device: Device): boolean;
  /** What is wrong with the payload, in words. */
  problem?(command: Command): string | undefined;
  run(call: CommandCall, device: Device): Promise<Reply> | Reply;
};
