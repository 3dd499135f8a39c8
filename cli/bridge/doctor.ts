/** `edgecall bridge doctor` checks each link from the settings to gateway and broker. It says what is wrong and what to do. */

import { existsSync, readFileSync } from "node:fs";
import type { BridgeSettings } from "@edgecall/bridge/settings.ts";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { checkBroker } from "@edgecall/pi-agent/service/broker-check.ts";
import type { CommandCall } from "../command.ts";
import {
  brokerFinding,
  type Finding,
  findHealth,
  findingsOfConditions,
  findService,
  findUpdates,
  fine,
  printFindings,
  wrong,
} from "../service/checks/findings.ts";
import { fileProblem } from "../service/file-problem.ts";
import { whatItSays } from "../service/service-state.ts";
import { BRIDGE } from "../service/services.ts";
import { settingsOf, settingsOfService } from "./settings-file.ts";

/** Exit code 0: nothing is wrong. */
export async function doctor(call: CommandCall): Promise<number> {
  const file = call.text("config") ?? BRIDGE.places.settings;
  const isService = call.text("config") === undefined && existsSync(BRIDGE.places.unit);
  const { finding, settings } = await readSettings(file, isService);
  const findings = [finding];
  if (isService) findings.push(await findService(BRIDGE));
  if (settings) {
    findings.push(await findGateway(settings, isService));
    if (settings.mqttUrl !== undefined) findings.push(await findBroker(settings, settings.mqttUrl));
  }
  const says = isService ? whatItSays(BRIDGE) : undefined;
  if (says?.is === "read") findings.push(...findingsOfConditions("bridge", says.status.conditions));
  if (isService) findings.push(await findUpdates(BRIDGE));
  return printFindings(findings, call);
}

async function readSettings(
  file: string,
  isService: boolean,
): Promise<{ finding: Finding; settings?: BridgeSettings }> {
  const link = "settings";
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const todo =
      code === "EACCES"
        ? "sudo edgecall bridge doctor"
        : "sudo edgecall bridge install, or give --config FILE";
    return { finding: wrong(link, fileProblem(error), todo) };
  }
  const read = isService ? await settingsOfService(text) : settingsOf(text);
  if (!read.ok) return { finding: wrong(link, read.errors.join("; "), `correct ${file}`) };
  const { settings } = read;
  return { finding: fine(link, `${file}, bridge ${settings.bridgeId}`), settings };
}

/** Checks that the gateway answers. Only the running bridge knows whether the gateway accepts it. */
async function findGateway({ gatewayUrl }: BridgeSettings, isService: boolean): Promise<Finding> {
  const link = "gateway";
  const says = isService ? whatItSays(BRIDGE) : undefined;
  if (says?.is === "read" && says.status.gateway.up) return fine(link, `${gatewayUrl} has accepted it`);
  const url = new URL("./healthz", gatewayUrl.replace(/^ws/, "http")).href;
  const health = await findHealth(url, {
    other: "is GATEWAY_URL your gateway's address?",
    none: "is GATEWAY_URL right, and does the Internet connection work?",
  });
  if (health.is === "wrong" || says?.is !== "read") return health;
  const { problem = "does not welcome this bridge" } = says.status.gateway;
  return wrong(
    link,
    `${url} answers; ${problem}`,
    `is another bridge of this home running, or its key revoked? journalctl -u ${BRIDGE.unit} -n 50`,
  );
}

async function findBroker(settings: BridgeSettings, url: string): Promise<Finding> {
  const { mqttUsername: username, mqttPassword: password, mqttCa: ca, topicPrefix } = settings;

  const check = await checkBroker({ url, username, password, ca }, `${topicPrefix}/agents/+/presence`);
  return brokerFinding(withoutLogin(url), check, {
    url: "MQTT_URL",
    refused: "MQTT_USERNAME or MQTT_PASSWORD is wrong",
    section: "MQTT_URL and MQTT_CA",
    who: "the bridge",
  });
}
