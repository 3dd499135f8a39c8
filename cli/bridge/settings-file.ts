/** `/etc/edgecall/bridge.env`: the bridge's settings, as systemd reads them for it (EnvironmentFile in systemd.exec(5)). */
import { readSettings, type SettingsResult } from "@edgecall/bridge/settings.ts";
import { UsageError } from "../command.ts";
import { asUser } from "../service/as-user.ts";
import { BRIDGE } from "../service/services.ts";

export type Wanted = Readonly<Record<string, string | undefined>>;

/**
 * @param values by variable; what is undefined is left out
 * @throws UsageError where they are wrong
 */
export function newSettings(values: Wanted): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const lines = given.map(([name, value]) => `${name}=${quoted(name, value)}\n`);
  const text = `# This home's bridge; docs/settings.md has every variable. After a change: sudo systemctl restart ${BRIDGE.unit}\n${lines.join("")}`;
  checkSettings(text);
  return text;
}

/** @throws UsageError with every problem */
export function checkSettings(text: string): void {
  const read = settingsOf(text);
  if (!read.ok) throw new UsageError(read.errors.join("; "));
}

/** As the service would read them. */
export function settingsOf(text: string): SettingsResult {
  return readSettings({ STATE_DIRECTORY: BRIDGE.places.state, ...readEnvironment(text) });
}

/**
 * … and with its rights: what the settings name, its password at its own broker say, may be a link by now, and root
 * would show the broker what it leads to.
 * @param user the service's; another one only in tests
 */
export function settingsOfService(text: string, user = BRIDGE.user): Promise<SettingsResult> {
  return asUser(user, async () => settingsOf(text));
}

/** The variables of such a file: `NAME=value`, bare or in quotes; comments begin with # or ;. */
export function readEnvironment(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, name, value = ""] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) variables[name] = bare(value.trim());
  }
  return variables;
}

function bare(value: string): string {
  const inner = value.slice(1, -1);
  if (/^'.*'$/.test(value)) return inner;
  if (/^".*"$/.test(value)) return inner.replace(/\\(["\\`$])/g, "$1");
  return value;
}

function quoted(name: string, value: string): string {
  if (/\p{Cc}/u.test(value)) throw new UsageError(`${name}: holds a line break or another control character`);
  return `"${value.replace(/["\\`$]/g, "\\$&")}"`;
}
