/** `edgecall agent run`: the service starts this, and a person may start it to watch. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { loadSettings } from "@edgecall/pi-agent/config/settings.ts";
import { runAgent as run } from "@edgecall/pi-agent/run.ts";
import { type CommandCall, UsageError } from "../command.ts";
import { Releases } from "../service/releases/releases.ts";
import { AGENT, type Service } from "../service/services.ts";

export async function runAgent({ text, env }: CommandCall): Promise<never> {
  const config = text("config") ?? AGENT.places.settings;
  mustHaveItsState(config, env, AGENT);
  return run({
    config,
    id: text("id"),
    env,
    // Only the service is on trial, and not an agent that is started by hand beside it.
    onTrial: env.EDGECALL_NOTIFY_FD !== undefined && new Releases(AGENT.places.programs).onTrial,
  });
}

/**
 * Without STATE_DIRECTORY the service's settings would make an agent with a new key, which the gateway does not know, and a
 * new folder beside them.
 * @throws UsageError that names the two right ways
 */
export function mustHaveItsState(
  config: string,
  env: CommandCall["env"],
  { unit, user, places }: Pick<Service, "unit" | "user" | "places">,
): void {
  if (env.STATE_DIRECTORY !== undefined || resolve(config) !== places.settings || !existsSync(config)) return;
  if (dirname(loadSettings(config, env).settings.stateDir) !== dirname(places.settings)) return;
  throw new UsageError(
    `${config} is the service's, which has its key and its record in ${places.state}: sudo systemctl start ${unit}; ` +
      `without systemd: sudo -u ${user} env STATE_DIRECTORY=${places.state} edgecall agent run. ` +
      "For another agent give its own --config FILE",
  );
}
