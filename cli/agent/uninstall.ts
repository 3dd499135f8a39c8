/** `edgecall agent uninstall`. */
import { rmdir } from "node:fs/promises";
import type { CommandCall } from "../command.ts";
import { AGENT, PROC_DIR } from "../service/services.ts";
import { uninstallService } from "../service/uninstall.ts";

export function uninstall(call: CommandCall): Promise<number> {
  return uninstallService(
    {
      service: AGENT,
      stored: "record, files, skills",
      // The service's mount of /proc has ended with it, so this is an empty folder.
      also: async () => {
        await rmdir(PROC_DIR).catch(() => {});
        return [];
      },
    },
    call,
  );
}
