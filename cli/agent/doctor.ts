/** `edgecall agent doctor` checks each link from the settings to the model. It says what is wrong and what to do. */
import { existsSync, readFileSync } from "node:fs";
import { OUTCOMES_VARIABLE } from "@edgecall/node/systemd/update.ts";
import { AgentSettingsError, loadSettings, type Settings } from "@edgecall/pi-agent/config/settings.ts";
import type { CommandCall } from "../command.ts";
import {
  type Finding,
  findService,
  findUpdates,
  fine,
  printFindings,
  wrong,
} from "../service/checks/findings.ts";
import { fileProblem } from "../service/file-problem.ts";
import { whatItSays } from "../service/service-state.ts";
import { AGENT } from "../service/services.ts";
import { pinnedGateway } from "../service/updates/gateway-pin.ts";
import {
  findBroker,
  findDevice,
  findGateway,
  findKey,
  findModel,
  findPairing,
  findServing,
  findTools,
  findUnit,
  findUnsolicited,
} from "./findings.ts";

/** Exit code 0: nothing is wrong. */
export async function doctor(call: CommandCall): Promise<number> {
  const { text, env } = call;
  const file = text("config") ?? AGENT.places.settings;
  const isOther = file !== AGENT.places.settings;
  const read = readSettings(file, isOther ? env : { ...asService(), ...env });
  const findings: Finding[] = [read.finding];
  // Each link is checked, even after a broken one. Without settings there is nothing to check.
  if (read.settings) {
    const isService = !isOther && existsSync(AGENT.places.unit);
    const service = isService ? await findService(AGENT) : undefined;
    if (service) findings.push(service);
    const unit = isService ? findUnit(readFileSync(AGENT.places.unit, "utf8")) : undefined;
    if (unit) findings.push(unit);
    findings.push(await findBroker(read.settings));
    const pairing = await findPairing(read.settings);
    findings.push(pairing.finding);
    const pin = isOther ? undefined : await pinnedGateway().catch(() => undefined);
    findings.push(await findKey({ ...read.settings, gatewayKey: pairing.gatewayKey }, pin));
    if (isService) {
      const says = whatItSays(AGENT);
      findings.push(findGateway(says.is === "read" ? says.status.gateway : undefined));
    }
    findings.push(...(await findTools({ ...read.settings, gatewayKey: pairing.gatewayKey }, isService)));
    findings.push(...(await findDevice(read.settings, isService)));
    findings.push(findUnsolicited(read.settings));
    findings.push(await findModel(read.settings.llm));
    if (read.settings.serve) findings.push(await findServing(read.settings.serve));
    if (isService) findings.push(await findUpdates(AGENT));
  }
  return printFindings(findings, call);
}

/** The variables that the service's unit sets. */
function asService(): CommandCall["env"] {
  const { state, updates, unit } = AGENT.places;
  return { STATE_DIRECTORY: state, ...(existsSync(unit) && { [OUTCOMES_VARIABLE]: updates }) };
}

function readSettings(
  file: string,
  env: CommandCall["env"],
): { finding: Finding; settings: Settings | undefined } {
  try {
    const { settings } = loadSettings(file, env);
    return {
      settings,
      finding: fine("settings", `${file}, agent_id ${settings.agentId}`),
    };
  } catch (error) {
    const problems = error instanceof AgentSettingsError ? error.problems : [fileProblem(error)];
    const todo = existsSync(file) ? `correct ${file}` : "sudo edgecall agent install, or give --config FILE";
    return {
      settings: undefined,
      finding: wrong("settings", problems.join("; "), todo),
    };
  }
}
