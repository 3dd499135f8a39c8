/** The three services that `edgecall` installs. They differ in names and places of files. */
import { dirname, join } from "node:path";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import {
  AgentStatus,
  BridgeStatus,
  GatewayStatus,
  type ServiceStatus,
} from "@edgecall/node/systemd/status.ts";

export type Service<Status extends ServiceStatus = ServiceStatus> = {
  /** The word of the command, as in `edgecall agent install`. */
  readonly name: "agent" | "bridge" | "gateway";
  /** systemd's name, without ".service". */
  readonly unit: string;
  /** The service's own user and group. */
  readonly user: string;
  readonly places: Places;
  /** The schema of its status file. */
  readonly readStatus: (json: string) => Parsed<Status>;
};

type Places = {
  /** The settings: root writes them, and the service gets or reads them. */
  readonly settings: string;
  /** The programs: only root may write them, so that the service cannot change what is started. */
  readonly programs: string;
  readonly unit: string;
  /** The owner's changes of the unit (`systemctl edit`). */
  readonly dropIns: string;
  /** STATE_DIRECTORY and RUNTIME_DIRECTORY of the service, which systemd makes. */
  readonly state: string;
  readonly runtime: string;
  /** The outcomes of updates without a person: root writes them, the service reads them. */
  readonly updates: string;
};

/** The command of the services: a link to an installed program. */
export const COMMAND_FILE = "/usr/local/bin/edgecall";
/** The Node that install.sh puts here if the system has none. All services use it. */
export const NODE_DIR = "/opt/edgecall-node";

/** A complete /proc for the agent: see agent/unit.ts. */
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

export const GATEWAY: Service<GatewayStatus> = {
  name: "gateway",
  unit: "edgecall-gateway",
  user: "edgecall-gateway",
  places: places("edgecall-gateway", "edgecall-gateway", "gateway.env"),
  readStatus: (json) => checkJson(GatewayStatus, json),
};

export const SERVICES: readonly Service[] = [AGENT, BRIDGE, GATEWAY];

/** @param folder the name below /opt, /var/lib and /run */
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

/** The unit that updates a service. A path unit and a timer of the same name start it. */
export function updateUnit({ unit }: Service): string {
  return `${unit}-update`;
}

/** The folder of both services' settings. */
export const SETTINGS_DIR = dirname(AGENT.places.settings);
