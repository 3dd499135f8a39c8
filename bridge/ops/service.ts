/** The bridge as systemd and the commands `status` and `doctor` see it. By hand, without systemd, it says nothing. */
import { join } from "node:path";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { replaceInMemory } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { openNotify } from "@edgecall/node/systemd/notify.ts";
import { type BridgeStatus, ERRORS_KEPT, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import type { Bridge } from "../bridge.ts";
import type { BridgeSettings } from "../settings.ts";

export type Service = {
  /** The bridge's log, which tells of its connections too. */
  readonly log: Log;
  /** The bridge runs, and connects by itself. */
  started(bridge: Pick<Bridge, "links">): void;
  stopping(): void;
};

export type ServiceOptions = {
  settings: BridgeSettings;
  log: Log;
  /** systemd's: RUNTIME_DIRECTORY, WATCHDOG_USEC; the launcher's: EDGECALL_NOTIFY_FD. */
  env: Readonly<Record<string, string | undefined>>;
  /** A version on trial is ready when both sides were there once: systemd takes it for failed if that does not come. */
  onTrial: boolean;
  readyWithinMs?: number;
};

/**
 * Ready is a bridge that has broker and gateway. Without a trial it is also one that had neither for this long: a
 * boot must not wait for the Internet, and starting the bridge again brings nothing back. Less than the unit's
 * TimeoutStartSec.
 */
const READY_WITHIN_MS = 30_000;

export function openService(options: ServiceOptions): Service {
  const { settings, log, env, onTrial, readyWithinMs = READY_WITHIN_MS } = options;
  const notify = openNotify(env, (error) => log("warn", "notify_failed", { error: messageOf(error) }));
  const now = () => new Date().toISOString();
  const folder = env.RUNTIME_DIRECTORY;
  const status: BridgeStatus = {
    bridge_id: settings.bridgeId,
    version: VERSION,
    pid: process.pid,
    started_at: now(),
    online: false,
    since: now(),
    gateway: { url: settings.gatewayUrl, up: false },
    broker: { url: withoutLogin(settings.mqttUrl), up: false },
    last_errors: [],
  };
  let running: Pick<Bridge, "links"> | undefined;
  let ready = false;
  let late: NodeJS.Timeout | undefined;

  const write = () => {
    if (folder === undefined) return;
    try {
      replaceInMemory(join(folder, STATUS_FILE), JSON.stringify(status), 0o640);
    } catch (error) {
      log("warn", "status_unwritten", { error: messageOf(error) });
    }
  };
  const becomeReady = () => {
    clearTimeout(late);
    if (ready) return;
    ready = true;
    notify.ready();
  };
  /** @returns whether a side came or went */
  const look = (): boolean => {
    if (!running) return false;
    const { gateway, broker, problem } = running.links();
    const changed = status.gateway.up !== gateway || status.broker.up !== broker;
    const { url } = status.gateway;
    status.gateway = { url, up: gateway, ...(problem !== undefined && { problem }) };
    status.broker.up = broker;
    const online = gateway && broker;
    if (online !== status.online) Object.assign(status, { online, since: now() });
    return changed;
  };
  const tell = () => {
    const missing = (["gateway", "broker"] as const).filter((side) => !status[side].up);
    notify.status(missing.length === 0 ? "online" : `offline: no ${missing.join(", no ")}`);
    if (status.online) becomeReady();
  };

  return {
    log(level, event, fields = {}) {
      log(level, event, fields);
      const changed = look();
      if (changed) tell();
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
      tell();
      if (!onTrial) late = setTimeout(becomeReady, readyWithinMs);
      write();
    },
    stopping() {
      clearTimeout(late);
      notify.stopping();
    },
  };
}
