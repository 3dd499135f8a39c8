/** `edgecall agent doctor`: from the settings to the model, link by link: what is wrong, and what to do. */
import { existsSync } from "node:fs";
import { loadSettings, type Settings, SettingsError } from "@edgecall/pi-agent/settings.ts";
import { type CommandCall, EXIT } from "../command.ts";
import { type Finding, findBroker, findModel, findService, findTools } from "./findings.ts";
import { placesBelow, SETTINGS_FILE, STATE_DIR } from "./places.ts";

/** Exit code 0: nothing is wrong. */
export async function doctor({ text, flag, env, io }: CommandCall): Promise<number> {
  const places = placesBelow("/");
  const file = text("config") ?? SETTINGS_FILE;
  const read = readSettings(file, env);
  const findings: Finding[] = [read.finding];
  // Each link is looked at, whatever became of those before it; without settings there is nothing to look for.
  if (read.settings) {
    const isService = text("config") === undefined && existsSync(places.unit);
    const service = isService ? await findService(places) : undefined;
    if (service) findings.push(service);
    findings.push(await findBroker(read.settings));
    findings.push(...(await findTools(read.settings, places, isService)));
    findings.push(await findModel(read.settings.llm));
  }
  io.out(flag("json") ? `${JSON.stringify(findings)}\n` : findings.map(line).join(""));
  return findings.every(({ is }) => is !== "wrong") ? EXIT.ok : EXIT.failed;
}

function readSettings(
  file: string,
  env: CommandCall["env"],
): { finding: Finding; settings: Settings | undefined } {
  try {
    const { settings } = loadSettings(file, { STATE_DIRECTORY: STATE_DIR, ...env });
    return {
      settings,
      finding: { link: "settings", is: "fine", says: `${file}, agent_id ${settings.agentId}` },
    };
  } catch (error) {
    const problems = error instanceof SettingsError ? error.problems : [String(error)];
    const todo = existsSync(file) ? `correct ${file}` : "sudo edgecall agent install, or give --config FILE";
    return {
      settings: undefined,
      finding: { link: "settings", is: "wrong", says: problems.join("; "), todo },
    };
  }
}

const SIGNS = { fine: "ok   ", wrong: "WRONG", left: "-    " } as const;

function line({ link, is, says, todo }: Finding): string {
  return `${SIGNS[is]} ${link.padEnd(9)} ${says}\n${todo === undefined ? "" : `      ${"".padEnd(9)} → ${todo}\n`}`;
}
