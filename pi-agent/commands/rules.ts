/** `readings` and `watch_set`: what this agent can watch by itself, and the rules by which it does. */
import { WatchSetCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import { succeeded } from "../link/reports.ts";
import { notForGuests } from "./authority.ts";

const NAME_MAX_CHARS = 128;

/** Reads each action that may be watched once, so it takes as long as the slowest. */
export const readings: CommandKind = {
  kind: "look",
  problem({ payload: { reading } }) {
    const isRight =
      reading === undefined || (typeof reading === "string" && reading.length <= NAME_MAX_CHARS);
    return isRight ? undefined : "payload.reading: right would be the name of an action that only reads";
  },
  async run({ command }, device) {
    await device.catalog.look();
    const { reading } = command.payload;
    const list = await device.watching.list(typeof reading === "string" ? reading : undefined);
    return succeeded({ readings: list });
  },
};

/** A repetition sets the same once more, which changes nothing. */
export const watchSet: CommandKind = {
  kind: "look",
  problem(command) {
    const checked = check(WatchSetCommand, command.payload);
    return checked.ok ? notForGuests(command) : `payload.${checked.error}`;
  },
  async run({ command }, device) {
    const checked = check(WatchSetCommand, command.payload);
    if (!checked.ok) throw new Error(checked.error);
    await device.catalog.look();
    return succeeded({ status: "success", ...(await device.watching.set(checked.value)) });
  },
};
