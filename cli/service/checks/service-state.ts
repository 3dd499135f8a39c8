/** How a service is, by systemd and by its own words. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ServiceStatus, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import { run } from "../programs.ts";
import type { Service } from "../services.ts";
import { beginningOf } from "../their-file.ts";

export type ServiceState = {
  /** systemd's words: "active", "activating", "failed", "inactive"; "unknown" without systemd or unit. */
  active: string;
  /** … and what exactly, e.g. "running", "auto-restart". */
  sub: string;
  enabled: boolean;
  restarts: number;
  /** Why it last ended, e.g. "exit-code", "watchdog", "success". */
  result: string;
  memoryBytes: number | null;
};

const LOOK_EVERY_MS = 250;
/** A hundred tools and its last errors have some 50 KB. */
const STATUS_BYTES = 1024 * 1024;

/** @param unit as systemd has it, e.g. "edgecall-agent" */
export async function serviceState(unit: string): Promise<ServiceState> {
  const names = ["ActiveState", "SubState", "UnitFileState", "NRestarts", "Result", "MemoryCurrent"];
  const { out } = await run("systemctl", ["show", unit, ...names.flatMap((name) => ["-p", name])]);
  const said = new Map(
    out.split("\n").map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
  );
  const memory = Number(said.get("MemoryCurrent"));
  return {
    active: said.get("ActiveState") ?? "unknown",
    sub: said.get("SubState") ?? "unknown",
    enabled: said.get("UnitFileState") === "enabled",
    restarts: Number(said.get("NRestarts") ?? 0),
    result: said.get("Result") ?? "unknown",
    memoryBytes: Number.isSafeInteger(memory) && memory > 0 ? memory : null,
  };
}

/** How it last ended, in words, while systemd has not started it again; undefined: not by a fault. */
export async function endedBy(unit: string): Promise<string | undefined> {
  const { out } = await run("systemctl", ["show", unit, "-p", "Result", "-p", "ExecMainStatus"]);
  const said = Object.fromEntries(out.split("\n").map((line) => line.split("=")));
  switch (said.Result) {
    case undefined:
    case "success":
      return undefined;
    case "exit-code":
      return `it ended with exit code ${said.ExecMainStatus}`;
    case "timeout":
      return "it was not online in time";
    case "watchdog":
      return "it hung";
    case "oom-kill":
      return "it took too much memory";
    case "signal":
    case "core-dump":
      return `it was ended by signal ${said.ExecMainStatus}`;
    default:
      return String(said.Result);
  }
}

/** What the running service says; or why nothing was read. */
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

/** Waits until it says that it is online. */
export async function onlineWithin(ms: number, service: Service): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    const says = whatItSays(service);
    if (says.is === "read" && says.status.online) return true;
  }
  return false;
}
