/** `edgecall bridge history` prints what the bridge keeps of its devices, as CSV, and deletes a day or a device. The bridge may run meanwhile. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { DAY_MS } from "@edgecall/node/history/day-file.ts";
import { DAY_END, pathOf } from "@edgecall/node/history/day-logs.ts";
import { keptRows } from "@edgecall/node/history/export.ts";
import { askToForget } from "@edgecall/node/history/forgotten.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { BRIDGE } from "../service/services.ts";

const FOLDER = "history";
const DEVICES_FILE = "devices.json";
const Devices = z.looseObject({ ids: z.array(z.looseObject({ key: z.string(), id: z.string() })) });

export async function history(call: CommandCall): Promise<number> {
  const state = call.text("state") ?? BRIDGE.places.state;
  const folder = join(state, FOLDER);
  if (!existsSync(folder)) throw new Error(`${folder}: nothing is kept there; with sudo, or --state FOLDER`);
  const gone = call.text("delete");
  if (gone !== undefined) return deleteDay(folder, dayIn(gone, "delete"), call);
  const forgotten = call.text("forget");
  if (forgotten !== undefined) return await forgetDevice(state, forgotten, call);
  const [from, to] = [call.text("from"), call.text("to")];
  const first = from === undefined ? Number.NEGATIVE_INFINITY : dayIn(from, "from");
  const last = to === undefined ? Number.POSITIVE_INFINITY : dayIn(to, "to");
  const ids = idsIn(state);
  const device = call.text("device");
  if (device !== undefined && ![...ids.values()].includes(device))
    throw new UsageError(`--device: the bridge knows no device '${device}'`);
  call.io.out("time,device,reading,value,unit\n");
  const log = (_: string, event: string) => call.io.err(`${event}\n`);
  for (const { info, at, value } of keptRows(folder, (day) => day >= first && day <= last, log)) {
    const id = ids.get(info.device) ?? info.device;
    if (device !== undefined && device !== id) continue;
    const cells = [
      new Date(at).toISOString(),
      id,
      info.reading,
      value === null ? "" : String(value),
      info.unit ?? "",
    ];
    call.io.out(`${cells.map(cell).join(",")}\n`);
  }
  return EXIT.ok;
}

/** The log of today is the running bridge's. */
function deleteDay(folder: string, day: number, { io }: CommandCall): number {
  const path = pathOf(folder, day, DAY_END);
  if (!existsSync(path)) throw new Error(`${path}: there is no such day, or it is not over for an hour yet`);
  rmSync(path);
  io.err(`${path}: deleted\n`);
  return EXIT.ok;
}

/** By its id, or by its key where the bridge does not know it any more, as the CSV names it. */
async function forgetDevice(state: string, device: string, { io }: CommandCall): Promise<number> {
  const folder = join(state, FOLDER);
  const log: Log = (_, event) => io.err(`${event}\n`);
  const [known] = [...idsIn(state)].find(([, id]) => id === device) ?? [];
  if (known === undefined && !isKept(folder, device, log))
    throw new UsageError(`--forget: nothing is kept of a device '${device}'`);
  await askToForget(folder, known ?? device, Date.now(), log);
  io.err(`${device}: its past is deleted, by the bridge that runs or at its next start\n`);
  return EXIT.ok;
}

function isKept(folder: string, key: string, log: Log): boolean {
  for (const { info } of keptRows(folder, () => true, log)) if (info.device === key) return true;
  return false;
}

function dayIn(text: string, option: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) throw new UsageError(`--${option}: expected a day (UTC), as in 2026-11-26`);
  return at / DAY_MS;
}

/** @returns the ids of devices by their keys; none where the bridge has written no such file yet */
function idsIn(state: string): ReadonlyMap<string, string> {
  const path = join(state, DEVICES_FILE);
  const read = existsSync(path) ? checkJson(Devices, readFileSync(path, "utf8")) : undefined;
  return new Map(read?.ok ? read.value.ids.map(({ key, id }) => [key, id]) : []);
}

/** A cell that begins as a formula would be one in a spreadsheet. */
function cell(text: string): string {
  const plain = /^[=+@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
