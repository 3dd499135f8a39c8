/**
 * The units that update a service without a person: a path unit that sees its request, a timer (off by default), and the
 * service that both start. It runs as root, since it writes the service's programs.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { REQUEST_FILE } from "@edgecall/node/systemd/update.ts";
import { must, run } from "../programs.ts";
import { propertiesOf, serviceState } from "../service-state.ts";
import { type Service, updateUnit } from "../services.ts";
import { CLOSED_TO_ALL, OPEN_TO_NODE } from "./hardening.ts";

const SYSTEMD_DIR = "/etc/systemd/system";

/** The wish of `install --auto-update` or `--no-auto-update`; undefined: as it is. */
export type AutoUpdate = boolean | undefined;

/** @param programs the folder of the service's programs; another one only in tests @returns the units' texts by name */
export function updateUnits(
  service: Service,
  { programs = service.places.programs }: { programs?: string } = {},
): Record<string, string> {
  const { name, unit, places } = service;
  const head = `# Made by "edgecall ${name} install"; changes of yours: systemctl edit`;
  const update = updateUnit(service);
  return {
    [`${update}.path`]: `${head} ${update}.path
[Unit]
Description=edgecall ${name}: sees when it asks to be updated

[Path]
PathExists=${places.state}/${REQUEST_FILE}

[Install]
WantedBy=multi-user.target
`,
    [`${update}.timer`]: `${head} ${update}.timer
[Unit]
Description=edgecall ${name}: looks for an update once a night

[Timer]
OnCalendar=*-*-* 01:00
# Not all homes of a gateway at once, nor all devices of a home.
RandomizedDelaySec=5h
Persistent=yes

[Install]
WantedBy=timers.target
`,
    [`${update}.service`]: `${head} ${update}.service
[Unit]
Description=edgecall ${name}: updates it from its gateway
Wants=network-online.target
After=network-online.target
# A service that asks for ever is not heard for ever.
StartLimitIntervalSec=10min
StartLimitBurst=20

[Service]
Type=oneshot
ExecStart=${programs}/current/edgecall ${name} update --unattended
TimeoutStartSec=30min
TimeoutStopSec=15
UMask=0022
# It writes what ${unit} is started from, and takes the request away.
ReadWritePaths=${programs}
ReadWritePaths=${places.state}
# systemd starts a service for root alone that holds the second.
CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_SYS_ADMIN
# It needs no device and no sandbox.
PrivateDevices=yes
RestrictNamespaces=yes
${CLOSED_TO_ALL}
${OPEN_TO_NODE}
`,
  };
}

/** Writes the units. Call it before systemd reloads. @returns true if there were none */
export async function writeUpdateUnits(service: Service): Promise<boolean> {
  const units = Object.entries(updateUnits(service)).map(
    ([name, text]) => [join(SYSTEMD_DIR, name), text] as const,
  );
  const areNew = units.every(([path]) => !existsSync(path));
  for (const [path, text] of units) await writeFile(path, text, { mode: 0o644 });
  return areNew;
}

/** Enables the units. Call it after systemd has reloaded. */
export async function startUpdateUnits(
  service: Service,
  { isFirst, autoUpdate }: { isFirst: boolean; autoUpdate: AutoUpdate },
): Promise<void> {
  const unit = updateUnit(service);
  if (isFirst) await must("systemctl", "enable", "--now", "--quiet", `${unit}.path`);
  else await must("systemctl", "try-restart", `${unit}.path`);
  if (autoUpdate !== undefined)
    await must("systemctl", autoUpdate ? "enable" : "disable", "--now", "--quiet", `${unit}.timer`);
}

export async function stopUpdateUnits(service: Service): Promise<void> {
  const unit = updateUnit(service);
  await run("systemctl", ["disable", "--now", "--quiet", `${unit}.path`, `${unit}.timer`]);
}

/** The files of these units, of the owner's changes, and of systemd's state of the timer. */
export function updateUnitFiles(service: Service): string[] {
  const stamp = `/var/lib/systemd/timers/stamp-${updateUnit(service)}.timer`;
  const units = Object.keys(updateUnits(service)).map((name) => join(SYSTEMD_DIR, name));
  return [stamp, ...units.flatMap((file) => [file, `${file}.d`])];
}

/** True if the service is updated when it asks. */
export async function isOnCommand(service: Service): Promise<boolean> {
  return (await serviceState(`${updateUnit(service)}.path`)).active === "active";
}

/** Describes whether the timer looks for updates, and when next, in systemd's format. */
export async function schedule(service: Service): Promise<{ on: boolean; next: string | null }> {
  const names = ["UnitFileState", "NextElapseUSecRealtime"];
  const properties = await propertiesOf(`${updateUnit(service)}.timer`, names);
  const on = properties.get("UnitFileState") === "enabled";
  return { on, next: (on && properties.get("NextElapseUSecRealtime")) || null };
}
