/** `readings` and `watch_set`: what this agent can watch by itself, and the rules by which it does. */
import { WatchSetCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { notForGuests } from "../calls/authority.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { OfferedTools } from "../calls/offered-tools.ts";
import { succeeded } from "../link/reports.ts";
import type { AgentRules } from "./agent-rules.ts";

const NAME_MAX_CHARS = 128;

export type RuleCommandParts = { tools: Pick<OfferedTools, "look">; rules: AgentRules };

export function ruleCommands(parts: RuleCommandParts): Record<"readings" | "watch_set", CommandKind> {
  return { readings: readings(parts), watch_set: watchSet(parts) };
}

/** Reads each action that may be watched once, so it takes as long as the slowest. */
function readings({ tools, rules }: RuleCommandParts): CommandKind {
  return {
    kind: "look",
    problem({ payload: { reading } }) {
      const isRight =
        reading === undefined || (typeof reading === "string" && reading.length <= NAME_MAX_CHARS);
      return isRight ? undefined : "payload.reading: right would be the name of an action that only reads";
    },
    async run({ command }) {
      await tools.look();
      const { reading } = command.payload;
      const list = await rules.list(typeof reading === "string" ? reading : undefined);
      return succeeded({ readings: list });
    },
  };
}

/** A repetition sets the same once more, which changes nothing. */
function watchSet({ tools, rules }: RuleCommandParts): CommandKind {
  return {
    kind: "look",
    problem(command) {
      const checked = check(WatchSetCommand, command.payload);
      return checked.ok ? notForGuests(command) : `payload.${checked.error}`;
    },
    async run({ command }) {
      const checked = check(WatchSetCommand, command.payload);
      if (!checked.ok) throw new Error(checked.error);
      await tools.look();
      return succeeded({ status: "success", ...(await rules.set(checked.value)) });
    },
  };
}
