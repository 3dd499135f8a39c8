/** `edgecall bridge run`: the service starts this, and a person may start it to watch. */
import { runBridge as run } from "@edgecall/bridge/run.ts";
import type { CommandCall } from "../command.ts";
import { Releases } from "../service/releases/releases.ts";
import { BRIDGE } from "../service/services.ts";

export function runBridge({ env }: CommandCall): Promise<never> {
  // Only the service is on trial, and not a bridge that is started by hand beside it.
  run({ env, onTrial: env.EDGECALL_NOTIFY_FD !== undefined && new Releases(BRIDGE.places.programs).onTrial });
  // runBridge ends the process itself.
  return new Promise(() => {});
}
