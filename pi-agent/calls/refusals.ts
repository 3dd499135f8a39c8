/** Texts of refusals that several parts use. */
import type { Advised } from "@edgecall/core/tools/advice.ts";

/** Without the record a repeated command could run twice, so nothing that acts runs without it. */
export function unrecordable(reason: string): Advised {
  return {
    text: `Error: Nothing was run: this device cannot write its record of commands (${reason}), and without it a repeated command could run twice.`,
    advice: "Tell the user to check the device's disk.",
  };
}
