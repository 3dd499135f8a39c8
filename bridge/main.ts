/**
 * The bridge joins one home's MQTT broker to the gateway. It dials out, so no port has to be opened.
 *
 *   GATEWAY_URL=https://… BRIDGE_TOKEN=… npm run bridge
 *
 * In a container the same file is also the health check (`health`) and sets up a broker (`broker-files`).
 */
import { jsonLog, messageOf } from "@edgecall/node/log.ts";
import { brokerFilesCommand } from "./ops/broker-files.ts";
import { healthCommand } from "./ops/health-check.ts";
import { becomeNobody, offerMcp, withHomeAssistant } from "./ops/home-assistant.ts";
import { cannotStart, runBridge } from "./run.ts";

const [verb, ...rest] = process.argv.slice(2);
const output = {
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => void process.stderr.write(text),
};
if (verb === "health") process.exit(await healthCommand(rest, process.env, output.stdout));
if (verb === "broker-files") process.exit(await brokerFilesCommand(rest, process.env, output));
if (verb !== undefined)
  cannotStart([`${verb}: no such command; there are: health, broker-files, and none to run it`]);

async function environment(): Promise<Record<string, string | undefined>> {
  try {
    return await withHomeAssistant(process.env);
  } catch (error) {
    return cannotStart([messageOf(error)]);
  }
}

const env = await environment();
if (process.env.SUPERVISOR_TOKEN) becomeNobody(env.BRIDGE_STATE);
runBridge({ env });
const refused = await offerMcp(env);
if (refused !== undefined)
  jsonLog({ program: "bridge" })("warn", "home_assistant.no_card", { error: refused });
