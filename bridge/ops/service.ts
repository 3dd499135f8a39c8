/** Tells systemd and the commands `status` and `doctor` how the bridge is. Without systemd it does nothing. */
import { join } from "node:path";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { replaceInMemory } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { openNotify } from "@edgecall/node/systemd/notify.ts";
import { type BridgeStatus, ERRORS_KEPT, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import type { BridgeSettings } from "../settings.ts";
import { isReady, type Readiness } from "./health.ts";

/** The running bridge, as far as the service tells of it. */
export type Watched = {
  /** Tells which sides are connected, and why the gateway is not, in words for a person. */
  links(): Readiness;
  /** Conditions that this bridge sees. */
  conditions(): readonly Condition[];
};

export type Service = {
  /** The bridge's log. It also shows changes of the connections. */
  readonly log: Log;
  /** The bridge has started, and connects by itself. */
  started(bridge: Watched): void;
  stopping(): void;
};

export type ServiceOptions = {
  settings: BridgeSettings;
  log: Log;
  /** From systemd: RUNTIME_DIRECTORY, WATCHDOG_USEC. From the launcher: EDGECALL_NOTIFY_FD. */
  env: Readonly<Record<string, string | undefined>>;
  /** A version on trial is ready once both sides were connected. Otherwise systemd takes it for failed. */
  onTrial: boolean;
  readyWithinMs?: number;
};

/**
 * A bridge is ready when it has its gateway, and its broker or Home Assistant. Without a trial it also counts as ready after this time: a boot must
 * not wait for the Internet, and starting the bridge again would not help. Less than the unit's TimeoutStartSec.
 */
const READY_WITHIN_MS = 30_000;

const SIDES = [
  ["gateway", "gateway"],
  ["broker", "broker"],
  ["home_assistant", "Home Assistant"],
] as const;

export function openService(options: ServiceOptions): Service {
  const { settings, log, env, onTrial, readyWithinMs = READY_WITHIN_MS } = options;
  const notify = openNotify(env, (error) =>
    log("warn", "service.notify_failed", { error: messageOf(error) }),
  );
  const now = () => new Date().toISOString();
  const folder = env.RUNTIME_DIRECTORY;
  const { mqttUrl, devices } = settings;
  const homeAssistant = devices?.homeAssistant;
  const status: BridgeStatus = {
    bridge_id: settings.bridgeId,
    version: VERSION,
    pid: process.pid,
    started_at: now(),
    online: false,
    since: now(),
    gateway: { url: settings.gatewayUrl, up: false },
    ...(mqttUrl !== undefined && { broker: { url: withoutLogin(mqttUrl), up: false } }),
    ...(homeAssistant !== undefined && { home_assistant: { url: homeAssistant.url, up: false } }),
    last_errors: [],
  };
  let running: Watched | undefined;
  let ready = false;
  let late: NodeJS.Timeout | undefined;

  const write = () => {
    if (folder === undefined) return;
    try {
      replaceInMemory(join(folder, STATUS_FILE), JSON.stringify(status), 0o640);
    } catch (error) {
      log("warn", "service.status_unwritten", { error: messageOf(error) });
    }
  };
  const becomeReady = () => {
    clearTimeout(late);
    if (ready) return;
    ready = true;
    notify.ready();
  };
  /** @returns true if a side was connected or lost */
  const look = (): boolean => {
    if (!running) return false;
    const links = running.links();
    const { gateway, broker = false, homeAssistant: assistant = false, problem } = links;
    const changed =
      status.gateway.up !== gateway ||
      (status.broker?.up ?? false) !== broker ||
      (status.home_assistant?.up ?? false) !== assistant;
    const { url } = status.gateway;
    status.gateway = { url, up: gateway, ...(problem !== undefined && { problem }) };
    if (status.broker) status.broker.up = broker;
    if (status.home_assistant) status.home_assistant.up = assistant;
    status.conditions = [...running.conditions()];
    const online = isReady(links);
    if (online !== status.online) Object.assign(status, { online, since: now() });
    return changed;
  };
  const notifyStatus = () => {
    const missing = SIDES.flatMap(([side, name]) => (status[side]?.up === false ? [`no ${name}`] : []));
    const text = [status.online ? "online" : "offline", missing.join(", ")].filter((one) => one !== "");
    notify.status(text.join(": "));
    if (status.online) becomeReady();
  };

  return {
    log(level, event, fields = {}) {
      log(level, event, fields);
      const changed = look();
      if (changed) notifyStatus();
      const isTrouble = level === "warn" || level === "error";
      if (isTrouble) {
        const names = ["error", "message", "reason", "hint"];
        const error = String(names.map((name) => fields[name]).find(Boolean) ?? "");
        status.last_errors = [...status.last_errors, { ts: now(), event, error }].slice(-ERRORS_KEPT);
      }
      if (changed || isTrouble) write();
    },
    started(bridge) {
      running = bridge;
      look();
      notifyStatus();
      if (!onTrial) late = setTimeout(becomeReady, readyWithinMs);
      write();
    },
    stopping() {
      clearTimeout(late);
      notify.stopping();
    },
  };
}
