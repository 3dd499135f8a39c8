/** `shutdown`: ends the agent; its service starts it again or leaves it. */

import type { CommandKind } from "../calls/command-kind.ts";
import { failed, succeeded } from "../link/reports.ts";
import { onlyForOwners } from "./authority.ts";

/** Recorded like any work that must not run twice: a redelivered `shutdown` would end the agent at each start. */
export const shutdown: CommandKind = {
  kind: "work",
  idempotent: () => false,
  run({ command }, device) {
    if (!device.settings.allowShutdown) {
      return failed(
        "shutdown is not allowed on this agent; allow_shutdown = true in its agent.toml allows it",
      );
    }
    const refusal = onlyForOwners(command);
    if (refusal !== undefined) return failed(refusal);
    // The end of the connection would take an answer along that is still being recorded.
    return { ...succeeded({ status: "shutting_down" }), afterwards: () => device.shutdown() };
  },
};
