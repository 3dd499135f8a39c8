/** `edgecall bridge run`: what the service starts, and what a person starts to look. */
import { runBridge as run } from "@edgecall/bridge/run.ts";
import type { CommandCall } from "../command.ts";
import { Releases } from "../service/releases/releases.ts";
import { BRIDGE } from "../service/services.ts";

export function runBridge({ env }: CommandCall): Promise<never> {
  // Only as the service: one that is started by hand beside it is not what is tried.
  run({ env, onTrial: env.EDGECALL_NOTIFY_FD !== undefined && new Releases(BRIDGE.places.programs).onTrial });
  // It ends the process by itself.
  return new Promise(() => {});
}
