/** `shutdown`: ends the agent. Its service may start it again. */
import type { CommandKind } from "../calls/command-kind.ts";
import { failed, succeeded } from "../link/reports.ts";
import { onlyForOwners } from "./authority.ts";

/** It is recorded like any work that must not run twice: a redelivered `shutdown` would end the agent at each start. */
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
    // The agent ends after the answer is published, since the end of the connection would lose it.
    return { ...succeeded({ status: "shutting_down" }), afterwards: () => device.shutdown() };
  },
};
