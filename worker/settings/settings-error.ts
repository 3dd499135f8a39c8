/** Words for a setting that is missing or wrong; they reach the person who asked. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
