/**
 * The bridge: joins one home's MQTT broker to the gateway, by dialling out; no port has to be opened.
 *
 *   GATEWAY_URL=https://… BRIDGE_TOKEN=… npm run bridge
 */
import { startBridge } from "./bridge.ts";
import { jsonLog } from "./log.ts";
import { readSettings } from "./settings.ts";

/** systemd and Docker kill after 10 s or more; the local stack's Ctrl-C should not take longer than this. */
const STOP_WITHIN_MS = 5_000;
const WRONG_SETTINGS = 2;
const READY_LOOK_MS = 20;

const result = readSettings(process.env);
if (!result.ok) {
  process.stderr.write(`The bridge cannot start:\n${result.errors.map((line) => `  ${line}\n`).join("")}`);
  process.exit(WRONG_SETTINGS);
}

const { settings } = result;
const log = jsonLog((line) => process.stderr.write(line), { debug: process.env.LOG_LEVEL === "debug" });
log("info", "starting", {
  bridge: settings.bridgeId,
  gateway: settings.gatewayUrl,
  broker: new URL(settings.mqttUrl).host,
});
const bridge = startBridge(settings, log);

function stop(): void {
  setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
  bridge.stop().then(
    () => process.exit(0),
    () => process.exit(0),
  );
}
process.on("SIGTERM", stop);
process.on("SIGINT", stop);

if (process.channel) {
  // Started by the local stack: it must not outlive it, however that ended.
  process.on("disconnect", stop);
  const looking = setInterval(() => {
    if (!bridge.ready()) return;
    clearInterval(looking);
    if (process.connected) process.send?.({ ready: true });
  }, READY_LOOK_MS);
}
