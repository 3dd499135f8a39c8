/** `edgecall agent install`. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type CommandCall, UsageError } from "../command.ts";
import { installService } from "../service/install.ts";
import { AGENT } from "../service/services.ts";
import { checkSettings, newSettings } from "./new-settings.ts";
import { DEVICE_GROUPS, unitText } from "./unit.ts";

export function install(call: CommandCall): Promise<number> {
  const settings = { wanted: () => wantedSettings(call.text), readBy: "the service" } as const;
  return installService({ service: AGENT, unitText, groups: DEVICE_GROUPS, settings }, call);
}

/** @returns undefined when existing settings stay */
async function wantedSettings(text: CommandCall["text"]): Promise<string | undefined> {
  const { settings } = AGENT.places;
  const file = text("settings");
  const given = { id: text("id"), broker: text("broker"), username: text("username") };
  if (file !== undefined) {
    if (Object.values(given).some((value) => value !== undefined)) {
      throw new UsageError("--settings: give either a whole file or --id, --broker and --username, not both");
    }
    const source = await readFile(file, "utf8");
    checkSettings(source);
    return source;
  }
  if (existsSync(settings)) {
    if (Object.values(given).some((value) => value !== undefined)) {
      throw new UsageError(
        `${settings} exists already: change it there, or give another file with --settings`,
      );
    }
    checkSettings(await readFile(settings, "utf8"));
    return undefined;
  }
  const passwordFile = text("password-file");
  const password = passwordFile === undefined ? undefined : (await readFile(passwordFile, "utf8")).trim();
  return newSettings({ ...given, password });
}
