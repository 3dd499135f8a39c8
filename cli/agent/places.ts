/** Where the service's files are. Everything is below `root`, which is `/` but in tests. */
import { join } from "node:path";

export const SERVICE = "edgecall-agent.service";
/** The agent's own user and group. */
export const USER = "edgecall";
/** The agent's settings: root writes them, the service's user reads them. */
export const SETTINGS_FILE = "/etc/edgecall/agent.toml";
/** Programs: root's alone, so that the agent cannot change what is started. */
export const PROGRAM_DIR = "/opt/edgecall";
/** systemd makes the two: STATE_DIRECTORY and RUNTIME_DIRECTORY of the service. */
export const STATE_DIR = "/var/lib/edgecall";
export const RUNTIME_DIR = "/run/edgecall";
/** A whole /proc: see unit.ts. */
export const PROC_DIR = "/run/edgecall-proc";

export type Places = ReturnType<typeof placesBelow>;

export function placesBelow(root: string) {
  const at = (path: string) => join(root, path);
  return {
    root,
    settings: at(SETTINGS_FILE),
    programs: at(PROGRAM_DIR),
    unit: at(`/etc/systemd/system/${SERVICE}`),
    /** Changes of the owner's (`systemctl edit`). */
    dropIns: at(`/etc/systemd/system/${SERVICE}.d`),
    command: at("/usr/local/bin/edgecall"),
    state: at(STATE_DIR),
    runtime: at(RUNTIME_DIR),
    proc: at(PROC_DIR),
  };
}
