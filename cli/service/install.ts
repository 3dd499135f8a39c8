/** Installs a service: user, settings, program, unit, start. A second run mends what is missing. */
import { existsSync } from "node:fs";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { must, run } from "./programs.ts";
import { linkCommand } from "./releases/command-link.ts";
import { ownProgram } from "./releases/own-program.ts";
import { Releases } from "./releases/releases.ts";
import { needRoot, systemdVersion } from "./root-only.ts";
import { onlineWithin, serviceState } from "./service-state.ts";
import { SETTINGS_DIR, type Service } from "./services.ts";
import { startUpdateUnits, writeUpdateUnits } from "./units/update-units.ts";

/** The time from the service's start until it is online. A small Pi takes some seconds, a distant broker some more. */
const ONLINE_WITHIN_MS = 60_000;

export type Install = {
  service: Service;
  unitText(options: { systemd: number }): string;
  /** Groups that the service's user joins, if they exist. */
  groups: readonly string[];
  settings: SettingsFile;
};

export type SettingsFile = {
  /** @returns new settings; undefined: existing ones stay. Called before anything is changed. @throws with a text for a person */
  wanted(): Promise<string | undefined>;
  /** The reader of the settings, besides root. */
  readBy: "root" | "the service";
};

export async function installService(options: Install, { flag, io }: CommandCall): Promise<number> {
  const { service, unitText, groups, settings } = options;
  const { places, unit, name } = service;
  needRoot(service, "install");
  if (flag("auto-update") && flag("no-auto-update"))
    throw new UsageError("give either --auto-update or --no-auto-update");
  const autoUpdate = flag("auto-update") ? true : flag("no-auto-update") ? false : undefined;
  const systemd = await systemdVersion(service);
  if (!existsSync("/usr/bin/perl"))
    throw new Error("perl is missing; the service needs it to start: apt install perl-base");
  const text = await settings.wanted();
  const program = await ownProgram();

  await makeUser(service, groups, io.err);
  if (text !== undefined) await writeSettings(service, text, settings.readBy);
  else await ownSettings(service, settings.readBy);
  const releases = new Releases(places.programs);
  await releases.prepare();
  const version = await releases.add(program, process.execPath);
  await releases.use(version, { onTrial: false });
  await releases.prune();
  await linkCommand();
  await writeFile(places.unit, unitText({ systemd }), { mode: 0o644 });
  const areNew = await writeUpdateUnits(service);
  await must("systemctl", "daemon-reload");
  io.err(
    `installed ${version}\n  settings  ${places.settings}\n  state     ${places.state}\n  service   ${unit}.service\n`,
  );
  if (flag("no-start")) return EXIT.ok;
  // Only at the first start: later, a person may have switched it off on purpose.
  const isFirst = areNew || !(await serviceState(unit)).enabled;
  await startUpdateUnits(service, { isFirst, autoUpdate });

  await must("systemctl", "enable", "--quiet", unit);
  const started = await run("systemctl", ["restart", unit], { within: ONLINE_WITHIN_MS * 2 });
  const online = started.code === 0 && (await onlineWithin(ONLINE_WITHIN_MS, service));
  io.err(
    online
      ? `the ${name} is online\n`
      : `the service is installed, and the ${name} is not online yet: sudo edgecall ${name} doctor\n`,
  );
  return online ? EXIT.ok : EXIT.failed;
}

/** Makes the service's own user, and adds it to the groups that it needs. */
export async function makeUser(
  { user, places }: Service,
  groups: readonly string[],
  say: (text: string) => void,
): Promise<void> {
  if ((await run("getent", ["passwd", user])).code !== 0) {
    const home = ["--home-dir", places.state, "--shell", "/usr/sbin/nologin"];
    await must("useradd", "--system", "--user-group", ...home, user);
  }
  for (const group of groups) {
    if ((await run("getent", ["group", group])).code !== 0) continue;
    const { code, err } = await run("usermod", ["-aG", group, user]);
    if (code !== 0) say(`not in the group ${group}: ${err.trim()}\n`);
  }
}

/** Makes the state folder as systemd would at the service's first start, for files that must exist before. */
export async function makeStateDir({ user, places }: Service): Promise<void> {
  await mkdir(places.state, { recursive: true, mode: 0o700 });
  await must("chown", `${user}:${user}`, places.state);
}

export async function writeSettings(
  service: Service,
  text: string,
  readBy: SettingsFile["readBy"],
): Promise<void> {
  const { settings } = service.places;
  await mkdir(SETTINGS_DIR, { recursive: true });
  await writeAtomic(settings, text);
  await ownSettings(service, readBy);
}

/** Writes the settings. They have passwords, so root writes them, and only the service may read them. */
async function ownSettings({ places, user }: Service, readBy: SettingsFile["readBy"]): Promise<void> {
  // The broker and the other service use this folder too, so each file has its own mode.
  await must("chmod", "0755", SETTINGS_DIR);
  await chown(SETTINGS_DIR, 0, 0);
  await must("chown", readBy === "root" ? "root:root" : `root:${user}`, places.settings);
  await must("chmod", readBy === "root" ? "0600" : "0640", places.settings);
}
