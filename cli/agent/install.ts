/** `edgecall agent install`: user, settings, program, unit; then it is started. Again, it mends what is missing. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { checkSettings, newSettings } from "./new-settings.ts";
import { ownProgram } from "./own-program.ts";
import { type Places, placesBelow, SERVICE, STATE_DIR, USER } from "./places.ts";
import { must, run } from "./programs.ts";
import { Releases } from "./releases.ts";
import { needRoot, systemdVersion } from "./root-only.ts";
import { onlineWithin } from "./service-state.ts";
import { DEVICE_GROUPS, unitText } from "./unit.ts";

/** From the start of the service until it is online: a small Pi takes some seconds, a broker far away some more. */
const ONLINE_WITHIN_MS = 60_000;

export async function install({ text, flag, io }: CommandCall): Promise<number> {
  const places = placesBelow("/");
  needRoot("install");
  const systemd = await systemdVersion();
  if (!existsSync("/usr/bin/perl"))
    throw new Error("perl is missing, which starts the service: apt install perl-base");
  const settings = await wantedSettings(places, text);
  const program = await ownProgram();

  await makeUser(io.err);
  if (settings !== undefined) await writeSettings(places, settings);
  else await ownSettings(places);
  const releases = new Releases(places.programs);
  await releases.prepare();
  const name = await releases.add(program, process.execPath);
  await releases.use(name, { onTrial: false });
  await releases.prune();
  await linkCommand(places);
  await writeFile(places.unit, unitText({ systemd }), { mode: 0o644 });
  await must("systemctl", "daemon-reload");
  io.err(
    `installed ${name}\n  settings  ${places.settings}\n  state     ${places.state}\n  service   ${SERVICE}\n`,
  );
  if (flag("no-start")) return EXIT.ok;

  await must("systemctl", "enable", "--quiet", SERVICE);
  const started = await run("systemctl", ["restart", SERVICE], { within: ONLINE_WITHIN_MS * 2 });
  const online = started.code === 0 && (await onlineWithin(ONLINE_WITHIN_MS, places));
  io.err(
    online
      ? "the agent is online\n"
      : "the service is installed, and the agent is not online yet: sudo edgecall agent doctor\n",
  );
  return online ? EXIT.ok : EXIT.failed;
}

/** @returns undefined when those that are there stay */
async function wantedSettings({ settings }: Places, text: CommandCall["text"]): Promise<string | undefined> {
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
      throw new UsageError(`${settings} is there already: change it there, or bring another with --settings`);
    }
    checkSettings(await readFile(settings, "utf8"));
    return undefined;
  }
  const passwordFile = text("password-file");
  const password = passwordFile === undefined ? undefined : (await readFile(passwordFile, "utf8")).trim();
  return newSettings({ ...given, password });
}

/** The service's own user, in the groups of the device's parts. */
export async function makeUser(say: (text: string) => void): Promise<void> {
  if ((await run("getent", ["passwd", USER])).code !== 0) {
    await must(
      "useradd",
      "--system",
      "--user-group",
      "--home-dir",
      STATE_DIR,
      "--shell",
      "/usr/sbin/nologin",
      USER,
    );
  }
  for (const group of DEVICE_GROUPS) {
    if ((await run("getent", ["group", group])).code !== 0) continue;
    const { code, err } = await run("usermod", ["-aG", group, USER]);
    if (code !== 0) say(`not in the group ${group}: ${err.trim()}\n`);
  }
}

export async function writeSettings(places: Places, text: string): Promise<void> {
  await mkdir(dirname(places.settings), { recursive: true, mode: 0o755 });
  await writeFile(`${places.settings}.next`, text, { mode: 0o600, flush: true });
  await rename(`${places.settings}.next`, places.settings);
  await ownSettings(places);
}

/** They hold passwords: root changes them, the agent reads them, nobody else sees them. */
async function ownSettings({ settings }: Places): Promise<void> {
  await must("chown", `root:${USER}`, dirname(settings), settings);
  await must("chmod", "0750", dirname(settings));
  await must("chmod", "0640", settings);
}

async function linkCommand({ command, programs }: Places): Promise<void> {
  await mkdir(dirname(command), { recursive: true });
  await symlink(`${programs}/current/edgecall`, `${command}.next`);
  await rename(`${command}.next`, command);
}
