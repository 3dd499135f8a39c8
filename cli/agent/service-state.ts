/** How the service is, by systemd and by the agent's own words. */
import { setTimeout as pause } from "node:timers/promises";
import { type AgentStatus, readStatus } from "@edgecall/pi-agent/service/status-file.ts";
import { type Places, SERVICE } from "./places.ts";
import { run } from "./programs.ts";

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

export async function serviceState(): Promise<ServiceState> {
  const names = ["ActiveState", "SubState", "UnitFileState", "NRestarts", "Result", "MemoryCurrent"];
  const { out } = await run("systemctl", ["show", SERVICE, ...names.flatMap((name) => ["-p", name])]);
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

/** What the running agent says; or why nothing was read. */
export type AgentSays =
  | { is: "read"; status: AgentStatus }
  | { is: "not running" }
  | { is: "unreadable"; why: string };

export function agentSays({ runtime }: Places): AgentSays {
  try {
    const read = readStatus(runtime);
    return read.ok ? { is: "read", status: read.value } : { is: "unreadable", why: read.error };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { is: "not running" };
    return { is: "unreadable", why: code === "EACCES" ? "only root may: use sudo" : message };
  }
}

/** Waits until the agent says that it is online. */
export async function onlineWithin(ms: number, places: Places): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    const says = agentSays(places);
    if (says.is === "read" && says.status.online) return true;
  }
  return false;
}
