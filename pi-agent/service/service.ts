/** Tells systemd and the commands `status` and `doctor` how the agent is. Without systemd it does nothing. */
import { join } from "node:path";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { replaceInMemory } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { openNotify } from "@edgecall/node/systemd/notify.ts";
import { type AgentStatus, ERRORS_KEPT, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import type { Unavailable } from "../calls/offered-tools.ts";
import type { Settings } from "../config/settings.ts";
import { CONDITIONS_CHANGED, TOOLS_CHANGED } from "../link/adverts.ts";
import { GATEWAY_VERSION } from "../link/gateway-version.ts";

/** What is told of the running agent. */
type RunningAgent = {
  offered(): { tools: readonly string[]; unavailable: readonly Unavailable[] };
  conditions(): readonly Condition[];
};

export type Service = {
  /** The agent's log. It also shows changes of the connection. */
  readonly log: Log;
  /** The agent has started, and connects by itself. */
  started(agent: RunningAgent): void;
  /** The agent has published its first complete advert. */
  online(): void;
  stopping(): void;
};

export type ServiceOptions = {
  settings: Settings;
  log: Log;
  /** From systemd: RUNTIME_DIRECTORY, WATCHDOG_USEC. From the launcher: EDGECALL_NOTIFY_FD. */
  env: Readonly<Record<string, string | undefined>>;
  /** A version on trial is ready once it was online. Otherwise systemd takes it for failed. */
  onTrial: boolean;
};

function gatewayOf({
  version,
  error,
}: Readonly<Record<string, unknown>>): NonNullable<AgentStatus["gateway"]> {
  return { version: String(version), ...(error !== undefined && { problem: String(error) }) };
}

export function openService({ settings, log, env, onTrial }: ServiceOptions): Service {
  const notify = openNotify(env, (error) =>
    log("warn", "service.notify_failed", { error: messageOf(error) }),
  );
  const now = () => new Date().toISOString();
  const folder = env.RUNTIME_DIRECTORY;
  const status: AgentStatus = {
    agent_id: settings.agentId,
    version: VERSION,
    pid: process.pid,
    started_at: now(),
    online: false,
    since: now(),
    broker: withoutLogin(settings.mqtt.url),
    model: settings.llm?.model ?? null,
    tools: [],
    unavailable: [],
    last_errors: [],
  };
  let running: RunningAgent | undefined;

  const write = () => {
    if (folder === undefined) return;
    try {
      if (running) Object.assign(status, running.offered(), { conditions: running.conditions() });
      replaceInMemory(join(folder, STATUS_FILE), JSON.stringify(status), 0o640);
    } catch (error) {
      log("warn", "service.status_unwritten", { error: messageOf(error) });
    }
  };
  const connected = (online: boolean, why: string) => {
    if (online !== status.online) Object.assign(status, { online, since: now() });
    notify.status(online ? `online at ${status.broker}` : `offline: ${why}`);
  };

  return {
    log(level, event, fields = {}) {
      log(level, event, fields);
      if (event === "mqtt.connected") connected(true, "");
      else if (event === "mqtt.offline") connected(false, String(fields.reason ?? "the connection was lost"));
      else if (event === GATEWAY_VERSION) status.gateway = gatewayOf(fields);
      else if (level === "info" && event !== TOOLS_CHANGED && event !== CONDITIONS_CHANGED) return;
      if (level !== "info") {
        const error = String(fields.error ?? fields.reason ?? fields.hint ?? "");
        status.last_errors = [...status.last_errors, { ts: now(), event, error }].slice(-ERRORS_KEPT);
      }
      write();
    },
    started(agent) {
      running = agent;
      if (!onTrial) notify.ready();
      write();
    },
    online() {
      if (onTrial) notify.ready();
      write();
    },
    stopping: () => notify.stopping(),
  };
}
