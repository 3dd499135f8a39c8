/** `edgecall agent run`: what the service starts, and what a person starts to look. */
import { runAgent as run } from "@edgecall/pi-agent/run.ts";
import type { CommandCall } from "../command.ts";
import { SETTINGS_FILE } from "./places.ts";

export async function runAgent({ text, env }: CommandCall): Promise<never> {
  return run({ config: text("config") ?? SETTINGS_FILE, id: text("id"), env });
}
