/** A setting is missing or wrong. The message is shown to the person who asked. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
