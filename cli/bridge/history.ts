/** `edgecall bridge history` prints what the bridge keeps of its devices, as CSV, and deletes a day or a device. The bridge may run meanwhile. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { deleteDay, forgetKept, keptFolder, keptKeys, printKept } from "../service/kept-history.ts";
import { BRIDGE } from "../service/services.ts";

const DEVICES_FILE = "devices.json";
const Devices = z.looseObject({ ids: z.array(z.looseObject({ key: z.string(), id: z.string() })) });

export async function history(call: CommandCall): Promise<number> {
  const state = call.text("state") ?? BRIDGE.places.state;
  const folder = keptFolder(state);
  const gone = call.text("delete");
  if (gone !== undefined) return deleteDay(folder, gone, call);
  const ids = idsIn(state);
  const forgotten = call.text("forget");
  if (forgotten !== undefined) return await forgetDevice(folder, ids, forgotten, call);
  const device = call.text("device");
  if (device !== undefined && ![...ids.values()].includes(device))
    throw new UsageError(`--device: the bridge knows no device '${device}'`);
  return printKept(call, folder, (key) => ids.get(key) ?? key, device);
}

/** By its id, or by its key where the bridge does not know it any more, as the CSV names it. */
async function forgetDevice(
  folder: string,
  ids: ReadonlyMap<string, string>,
  device: string,
  call: CommandCall,
): Promise<number> {
  const [known] = [...ids].find(([, id]) => id === device) ?? [];
  if (known === undefined && !keptKeys(folder, call).has(device))
    throw new UsageError(`--forget: nothing is kept of a device '${device}'`);
  await forgetKept(folder, known ?? device, call);
  call.io.err(`${device}: its past is deleted, by the bridge that runs or at its next start\n`);
  return EXIT.ok;
}

/** @returns the ids of devices by their keys; none where the bridge has written no such file yet */
function idsIn(state: string): ReadonlyMap<string, string> {
  const path = join(state, DEVICES_FILE);
  const read = existsSync(path) ? checkJson(Devices, readFileSync(path, "utf8")) : undefined;
  return new Map(read?.ok ? read.value.ids.map(({ key, id }) => [key, id]) : []);
}
