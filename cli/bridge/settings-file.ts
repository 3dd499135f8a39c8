/** The bridge's settings, `/etc/edgecall/bridge.env`. */
import { readSettings, type SettingsResult } from "@edgecall/bridge/settings.ts";
import { UsageError } from "../command.ts";
import { asUser } from "../service/as-user.ts";
import { environmentText, readEnvironment, type Wanted } from "../service/environment-file.ts";
import { BRIDGE } from "../service/services.ts";

/** @param values by variable; undefined ones are left out @throws UsageError when a value is wrong */
export function newSettings(values: Wanted): string {
  const text = environmentText(
    `This home's bridge; docs/reference/settings.md has every variable. After a change: sudo systemctl restart ${BRIDGE.unit}`,
    values,
  );
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
