/** Reads a service's state, from systemd and from its own status file. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ServiceStatus, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import { run } from "./programs.ts";
import type { Service } from "./services.ts";
import { beginningOf } from "./their-file.ts";

export type ServiceState = {
  /** systemd's ActiveState: "active", "activating", "failed", "inactive"; "unknown" without systemd or unit. */
  active: string;
  /** systemd's SubState, for instance "running" or "auto-restart". */
  sub: string;
  enabled: boolean;
  restarts: number;
  /** The reason of its last end, for instance "exit-code", "watchdog" or "success". */
  result: string;
  memoryBytes: number | null;
};

const LOOK_EVERY_MS = 250;
/** A status with a hundred tools and the last errors has some 50 KB. */
const STATUS_BYTES = 1024 * 1024;

/** @returns what systemd says of a unit, by the property's name */
export async function propertiesOf(
  unit: string,
  names: readonly string[],
): Promise<ReadonlyMap<string | undefined, string>> {
  const { out } = await run("systemctl", ["show", unit, ...names.flatMap((name) => ["-p", name])]);
  return new Map(out.split("\n").map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]));
}

/** @param unit systemd's name, for instance "edgecall-agent" */
export async function serviceState(unit: string): Promise<ServiceState> {
  const names = ["ActiveState", "SubState", "UnitFileState", "NRestarts", "Result", "MemoryCurrent"];
  const properties = await propertiesOf(unit, names);
  const memory = Number(properties.get("MemoryCurrent"));
  return {
    active: properties.get("ActiveState") ?? "unknown",
    sub: properties.get("SubState") ?? "unknown",
    enabled: properties.get("UnitFileState") === "enabled",
    restarts: Number(properties.get("NRestarts") ?? 0),
    result: properties.get("Result") ?? "unknown",
    memoryBytes: Number.isSafeInteger(memory) && memory > 0 ? memory : null,
  };
}

/** Describes a faulty end, while systemd has not started the service again; undefined: no fault. */
export async function endedBy(unit: string): Promise<string | undefined> {
  const { out } = await run("systemctl", ["show", unit, "-p", "Result", "-p", "ExecMainStatus"]);
  const properties = Object.fromEntries(out.split("\n").map((line) => line.split("=")));
  switch (properties.Result) {
    case undefined:
    case "success":
      return undefined;
    case "exit-code":
      return `it ended with exit code ${properties.ExecMainStatus}`;
    case "timeout":
      return "it was not online in time";
    case "watchdog":
      return "it hung";
    case "oom-kill":
      return "it took too much memory";
    case "signal":
    case "core-dump":
      return `it was ended by signal ${properties.ExecMainStatus}`;
    default:
      return String(properties.Result);
  }
}

/** Reads the running service's status, or returns why it could not be read. */
export type Says<Status extends ServiceStatus> =
  | { is: "read"; status: Status }
  | { is: "not running" }
  | { is: "unreadable"; why: string };

export function whatItSays<Status extends ServiceStatus>(service: Service<Status>): Says<Status> {
  try {
    const read = service.readStatus(beginningOf(join(service.places.runtime, STATUS_FILE), STATUS_BYTES));
    return read.ok ? { is: "read", status: read.value } : { is: "unreadable", why: read.error };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { is: "not running" };
    return { is: "unreadable", why: code === "EACCES" ? "only root may: use sudo" : message };
  }
}

/** Waits until the service's status says that it is online. */
export async function onlineWithin(ms: number, service: Service): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    const says = whatItSays(service);
    if (says.is === "read" && says.status.online) return true;
  }
  return false;
}
