/** `edgecall bridge uninstall`. */
import type { CommandCall } from "../command.ts";
import { BRIDGE } from "../service/services.ts";
import { uninstallService } from "../service/uninstall.ts";

export function uninstall(call: CommandCall): Promise<number> {
  return uninstallService({ service: BRIDGE, kept: "its key", also: async () => {} }, call);
}
