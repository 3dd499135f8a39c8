/** `edgecall bridge uninstall` removes the bridge and the broker that was made beside it. */
import type { CommandCall } from "../command.ts";
import { BRIDGE } from "../service/services.ts";
import { uninstallService } from "../service/uninstall.ts";
import { removeBroker } from "./own-broker.ts";

export function uninstall(call: CommandCall): Promise<number> {
  const stored = "its key, the broker's logins and messages";
  return uninstallService({ service: BRIDGE, stored, also: removeBroker }, call);
}
