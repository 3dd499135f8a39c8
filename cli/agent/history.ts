/** `edgecall agent history` prints what the agent keeps of its own readings, as CSV, and deletes a day or all of it. The agent may run meanwhile. */
import { type CommandCall, EXIT } from "../command.ts";
import { deleteDay, forgetKept, keptFolder, keptKeys, printKept } from "../service/kept-history.ts";
import { AGENT } from "../service/services.ts";

export async function history(call: CommandCall): Promise<number> {
  const folder = keptFolder(call.text("state") ?? AGENT.places.state);
  const gone = call.text("delete");
  if (gone !== undefined) return deleteDay(folder, gone, call);
  if (!call.flag("forget")) return printKept(call, folder);
  for (const key of keptKeys(folder, call)) await forgetKept(folder, key, call);
  call.io.err("its past is deleted, by the agent that runs or at its next start\n");
  return EXIT.ok;
}
