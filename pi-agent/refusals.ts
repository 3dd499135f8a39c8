/** Texts of refusals that more than one room says. */

/** Without the record a repeated command could run twice, so nothing that acts runs without it. */
export function unrecordable(reason: string): string {
  return `Error: Nothing was run: this device cannot write its record of commands (${reason}), and without it a repeated command could run twice. Tell the user to check the device's disk.`;
}
