/** `edgecall bridge install`. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type CommandCall, UsageError } from "../command.ts";
import { installService } from "../service/install.ts";
import { BRIDGE } from "../service/services.ts";
import { BROKER_FILES_DIR } from "./broker-unit.ts";
import { checkSettings, newSettings } from "./settings-file.ts";
import { unitText } from "./unit.ts";

export function install(call: CommandCall): Promise<number> {
  const settings = { wanted: () => wantedSettings(call), readBy: "root" } as const;
  return installService({ service: BRIDGE, unitText, groups: [], settings }, call);
}

/** @returns undefined when existing settings stay */
async function wantedSettings({ text, flag }: CommandCall): Promise<string | undefined> {
  const { settings } = BRIDGE.places;
  const file = text("settings");
  const options = ["gateway", "token-file", "broker", "username", "password-file"];
  const given = options.filter((name) => text(name) !== undefined).map((name) => `--${name}`);
  if (flag("own-broker")) given.push("--own-broker");
  if (file !== undefined) {
    if (given.length > 0)
      throw new UsageError(`--settings: give either a whole file or ${given.join(", ")}, not both`);
    const source = await readFile(file, "utf8");
    checkSettings(source);
    return source;
  }
  if (existsSync(settings)) {
    if (given.length > 0)
      throw new UsageError(
        `${given.join(", ")}: ${settings} exists already: change it there, or give another file with --settings`,
      );
    checkSettings(await readFile(settings, "utf8"));
    return undefined;
  }
  const gateway = { GATEWAY_URL: text("gateway"), BRIDGE_TOKEN: await secretIn(text("token-file")) };
  if (flag("own-broker")) {
    if (["broker", "username", "password-file"].some((name) => text(name) !== undefined))
      throw new UsageError(
        "--own-broker: is at this machine, with a login of its own; no --broker, no --username",
      );
    return newSettings({ ...gateway, BROKER_FILES: BROKER_FILES_DIR });
  }
  return newSettings({
    ...gateway,
    MQTT_URL: text("broker"),
    MQTT_USERNAME: text("username"),
    MQTT_PASSWORD: await secretIn(text("password-file")),
  });
}

async function secretIn(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : (await readFile(file, "utf8")).trim();
}
