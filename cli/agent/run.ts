/** `edgecall agent run`: what the service starts, and what a person starts to look. */
import { runAgent as run } from "@edgecall/pi-agent/run.ts";
import type { CommandCall } from "../command.ts";
import { Releases } from "../service/releases.ts";
import { AGENT } from "../service/services.ts";

export async function runAgent({ text, env }: CommandCall): Promise<never> {
  return run({
    config: text("config") ?? AGENT.places.settings,
    id: text("id"),
    env,
    // Only as the service: one that is started by hand beside it is not what is tried.
    onTrial: env.EDGECALL_NOTIFY_FD !== undefined && new Releases(AGENT.places.programs).onTrial,
  });
}
