/** The bridge's settings, `/etc/edgecall/bridge.env`, in systemd's format (EnvironmentFile in systemd.exec(5)). */
import { readSettings, type SettingsResult } from "@edgecall/bridge/settings.ts";
import { UsageError } from "../command.ts";
import { asUser } from "../service/as-user.ts";
import { BRIDGE } from "../service/services.ts";

export type Wanted = Readonly<Record<string, string | undefined>>;

/**
 * @param values by variable; undefined ones are left out
 * @throws UsageError when a value is wrong
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

/** Reads the settings as the service would. */
export function settingsOf(text: string): SettingsResult {
  return readSettings({ STATE_DIRECTORY: BRIDGE.places.state, ...readEnvironment(text) });
}

/**
 * Reads the settings with the service's rights. A file that they name, for instance the password at the home's broker, may
 * have become a link, and root would send the broker what it leads to.
 * @param user the service's user; another one only in tests
 */
export function settingsOfService(text: string, user = BRIDGE.user): Promise<SettingsResult> {
  return asUser(user, async () => settingsOf(text));
}

/** Reads the variables of such a file: `NAME=value`, bare or in quotes. Comments begin with # or ;. */
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
