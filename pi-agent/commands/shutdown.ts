/** `shutdown`: ends the agent. Its service may start it again. */

import { onlyForOwners } from "../calls/authority.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { Settings } from "../config/settings.ts";
import { failed, succeeded } from "../link/reports.ts";

/**
 * It is recorded like any work that must not run twice: a redelivered `shutdown` would end the agent at each start.
 * @param shutdown ends the agent
 */
export function shutdownCommand(
  { allowShutdown }: Pick<Settings, "allowShutdown">,
  shutdown: () => void,
): CommandKind {
  return {
    kind: "work",
    idempotent: () => false,
    run({ command }) {
      if (!allowShutdown) {
        return failed(
          "shutdown is not allowed on this agent; allow_shutdown = true in its agent.toml allows it",
        );
      }
      const refusal = onlyForOwners(command);
      if (refusal !== undefined) return failed(refusal);
      // The agent ends after the answer is published, since the end of the connection would lose it.
      return { ...succeeded({ status: "shutting_down" }), afterwards: shutdown };
    },
  };
}
