/**
 * The bridge: joins one home's MQTT broker to the gateway, by dialling out; no port has to be opened.
 *
 *   GATEWAY_URL=https://… BRIDGE_TOKEN=… npm run bridge
 *
 * In a container the same file is also its health check (`health`) and what sets up a broker (`broker-files`).
 */
import { startBridge } from "./bridge.ts";
import { brokerFilesCommand } from "./broker-files.ts";
import { healthCommand } from "./health-check.ts";
import { becomeNobody, withHomeAssistant } from "./home-assistant.ts";
import { jsonLog } from "./log.ts";
import { readSettings } from "./settings.ts";

/** systemd and Docker kill after 10 s or more; the local stack's Ctrl-C should not take longer than this. */
const STOP_WITHIN_MS = 5_000;
const WRONG_SETTINGS = 2;
const READY_LOOK_MS = 20;

const [verb, ...rest] = process.argv.slice(2);
const said = {
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => void process.stderr.write(text),
};
if (verb === "health") process.exit(await healthCommand(process.env, said.stdout));
if (verb === "broker-files") process.exit(await brokerFilesCommand(rest, process.env, said));
if (verb !== undefined)
  cannotStart([`${verb}: no such command; there are: health, broker-files, and none to run it`]);

function cannotStart(errors: readonly string[]): never {
  process.stderr.write(`The bridge cannot start:\n${errors.map((line) => `  ${line}\n`).join("")}`);
  process.exit(WRONG_SETTINGS);
}

async function environment(): Promise<Record<string, string | undefined>> {
  try {
    return await withHomeAssistant(process.env);
  } catch (error) {
    return cannotStart([error instanceof Error ? error.message : String(error)]);
  }
}

const env = await environment();
if (process.env.SUPERVISOR_TOKEN) becomeNobody();
const result = readSettings(env);
if (!result.ok) cannotStart(result.errors);

const { settings } = result;
const log = jsonLog((line) => process.stderr.write(line), { debug: env.LOG_LEVEL === "debug" });
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
