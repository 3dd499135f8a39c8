/** Runs the bridge as a process: settings from the environment, signals, and an exit code. */
import { jsonLog } from "@edgecall/node/log.ts";
import { startBridge } from "./bridge.ts";
import { openService } from "./ops/service.ts";
import { readSettings } from "./settings.ts";

/** systemd and Docker kill after 10 s or more. Ctrl-C in the local stack should not take longer than this. */
const STOP_WITHIN_MS = 5_000;
const WRONG_SETTINGS = 2;
const READY_LOOK_MS = 20;

export type Run = {
  env: Readonly<Record<string, string | undefined>>;
  /** True for an update that is on trial: see service.ts. */
  onTrial?: boolean;
};

/** Runs the bridge until a signal stops it, and then ends the process. With wrong settings it ends at once. */
export function runBridge({ env, onTrial = false }: Run): void {
  const result = readSettings(env);
  if (!result.ok) cannotStart(result.errors);
  const { settings } = result;
  const service = openService({
    settings,
    log: jsonLog({ program: "bridge" }, { debug: env.LOG_LEVEL === "debug" }),
    env,
    onTrial,
  });
  const { log } = service;
  log("info", "bridge.starting", {
    bridge: settings.bridgeId,
    gateway: settings.gatewayUrl,
    broker: settings.mqttUrl === undefined ? "off" : new URL(settings.mqttUrl).host,
  });
  const bridge = startBridge(settings, log);
  service.started(bridge);

  const stop = () => {
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    service.stopping();
    bridge.stop().then(
      () => process.exit(0),
      () => process.exit(0),
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);

  if (process.channel) {
    // The local stack has started this process, which must not outlive it.
    process.on("disconnect", stop);
    const timer = setInterval(() => {
      if (!bridge.ready()) return;
      clearInterval(timer);
      if (process.connected) process.send?.({ ready: true });
    }, READY_LOOK_MS);
  }
}

export function cannotStart(errors: readonly string[]): never {
  process.stderr.write(`The bridge cannot start:\n${errors.map((line) => `  ${line}\n`).join("")}`);
  process.exit(WRONG_SETTINGS);
}
