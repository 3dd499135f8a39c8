/** `edgecall agent uninstall`. */
import { rmdir } from "node:fs/promises";
import type { CommandCall } from "../command.ts";
import { AGENT, PROC_DIR } from "../service/services.ts";
import { uninstallService } from "../service/uninstall.ts";

export function uninstall(call: CommandCall): Promise<number> {
  return uninstallService(
    {
      service: AGENT,
      kept: "record, files, skills",
      // Only a folder: the service's own view of /proc ended with it.
      also: async () => {
        await rmdir(PROC_DIR).catch(() => {});
        return [];
      },
    },
    call,
  );
}
