/** The two services that `edgecall` installs, by what tells them apart: names, and where their files are. */
import { dirname, join } from "node:path";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { AgentStatus, BridgeStatus, type ServiceStatus } from "@edgecall/node/systemd/status.ts";

export type Service<Status extends ServiceStatus = ServiceStatus> = {
  /** As in `edgecall agent install`. */
  readonly name: "agent" | "bridge";
  /** systemd's name of it, without ".service". */
  readonly unit: string;
  /** Its own user and group. */
  readonly user: string;
  readonly places: Places;
  /** What it says in its status file. */
  readonly readStatus: (json: string) => Parsed<Status>;
};

export type Places = {
  /** Root writes it; the service gets it, or reads it. */
  readonly settings: string;
  /** Programs: root's alone, so that the service cannot change what is started. */
  readonly programs: string;
  readonly unit: string;
  /** Changes of the owner's (`systemctl edit`). */
  readonly dropIns: string;
  /** systemd makes the two: STATE_DIRECTORY and RUNTIME_DIRECTORY of the service. */
  readonly state: string;
  readonly runtime: string;
  /** What came of updates that nobody here made by hand: root writes it, the service reads it. */
  readonly updates: string;
};

/** The command of both: a link to the program of one that is installed. */
export const COMMAND_FILE = "/usr/local/bin/edgecall";
/** Where install.sh puts the Node that both are run by, where the system has none. */
export const NODE_DIR = "/opt/edgecall-node";

/** The agent sees a whole /proc here: see agent/unit.ts. */
export const PROC_DIR = "/run/edgecall-proc";

export const AGENT: Service<AgentStatus> = {
  name: "agent",
  unit: "edgecall-agent",
  user: "edgecall",
  places: places("edgecall-agent", "edgecall", "agent.toml"),
  readStatus: (json) => checkJson(AgentStatus, json),
};

export const BRIDGE: Service<BridgeStatus> = {
  name: "bridge",
  unit: "edgecall-bridge",
  user: "edgecall-bridge",
  places: places("edgecall-bridge", "edgecall-bridge", "bridge.env"),
  readStatus: (json) => checkJson(BridgeStatus, json),
};

export const SERVICES: readonly Service[] = [AGENT, BRIDGE];

/** @param folder its name below /opt, /var/lib and /run */
function places(unit: string, folder: string, settings: string): Places {
  return {
    settings: join("/etc/edgecall", settings),
    programs: join("/opt", folder),
    unit: `/etc/systemd/system/${unit}.service`,
    dropIns: `/etc/systemd/system/${unit}.service.d`,
    state: join("/var/lib", folder),
    runtime: join("/run", folder),
    updates: join("/opt", folder, "updates.json"),
  };
}

/** The unit that updates it; a path and a timer of the same name set it going. */
export function updateUnit({ unit }: Service): string {
  return `${unit}-update`;
}

/** Both services' settings are in it. */
export const SETTINGS_DIR = dirname(AGENT.places.settings);
