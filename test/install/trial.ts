/** `npm run trial`: a new user's first hour, on a machine with a systemd of its own. Needs root; see machine.ts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TOKENS, testVars } from "../tokens.ts";
import { machineMissing, runInMachine } from "./machine.ts";

const ROOT = join(import.meta.dirname, "../..");
/** All its waits together; none of them is long where nothing is wrong. */
const WITHIN_MS = 4 * 60_000;

const missing = machineMissing();
if (missing !== undefined) {
  console.error(`npm run trial needs ${missing}`);
  process.exit(1);
}
const variables = {
  API_TOKENS: testVars.API_TOKENS,
  BRIDGE_TOKENS: testVars.BRIDGE_TOKENS,
  BRIDGE_TOKEN: TOKENS.bridge,
  GATEWAY_URL: "http://127.0.0.1:8787",
  MQTT_URL: "mqtt://127.0.0.1:1883",
  HEALTH_PORT: "0",
  EDGECALL_DIR: "/var/lib/gateway",
  OWNER: TOKENS.owner,
};
const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
const { out, log } = await runInMachine({
  script: readFileSync(join(ROOT, "test/install/trial.sh"), "utf8"),
  within: WITHIN_MS,
  files: {
    "/opt/node/bin/node": { bind: process.execPath },
    "/repo": { bind: ROOT },
    // workerd does not start without certificates.
    "/etc/ssl": { bind: "/etc/ssl" },
    "/test/mosquitto.conf": { text: "listener 1883 127.0.0.1\nallow_anonymous true\n" },
    "/trial.env": { text: lines.join("") },
  },
});
console.log(out);
const ended = [...out.matchAll(/^= (\d+) after/gm)].map(([, code]) => Number(code));
const failed = ended.filter((code) => code !== 0).length;
console.log(`${ended.length} steps, ${failed} failed`);
if (failed > 0 || !out.includes("== let-in-again")) {
  console.error(log);
  process.exitCode = 1;
}
