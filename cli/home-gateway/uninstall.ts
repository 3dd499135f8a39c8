/** `edgecall gateway uninstall`. */
import type { CommandCall } from "../command.ts";
import { GATEWAY } from "../service/services.ts";
import { uninstallService } from "../service/uninstall.ts";

export function uninstall(call: CommandCall): Promise<number> {
  const stored = "tokens, keys, conversations and media of the home";
  return uninstallService({ service: GATEWAY, stored, also: async () => [] }, call);
}
