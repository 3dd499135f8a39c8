/** Prints what a program keeps of readings, as CSV, and deletes a day or a device of it. The program may run meanwhile. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "@edgecall/node/history/day-file.ts";
import { DAY_END, pathOf } from "@edgecall/node/history/day-logs.ts";
import { keptRows } from "@edgecall/node/history/export.ts";
import { askToForget } from "@edgecall/node/history/forgotten.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";

const FOLDER = "history";

/** @param state the program's folder @returns where it keeps them @throws an error that says what to do where there is nothing */
export function keptFolder(state: string): string {
  const folder = join(state, FOLDER);
  if (!existsSync(folder)) throw new Error(`${folder}: nothing is kept there; with sudo, or --state FOLDER`);
  return folder;
}

/** @param nameOf what a device is called, by its key @param wanted undefined: all devices */
export function printKept(
  call: CommandCall,
  folder: string,
  nameOf: (key: string) => string = (key) => key,
  wanted?: string,
): number {
  const [from, to] = [call.text("from"), call.text("to")];
  const first = from === undefined ? Number.NEGATIVE_INFINITY : dayIn(from, "from");
  const last = to === undefined ? Number.POSITIVE_INFINITY : dayIn(to, "to");
  call.io.out("time,device,reading,value,unit\n");
  const log = (_: string, event: string) => call.io.err(`${event}\n`);
  for (const { info, at, value } of keptRows(folder, (day) => day >= first && day <= last, log)) {
    const id = nameOf(info.device);
    if (wanted !== undefined && wanted !== id) continue;
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

/** The log of today is the running program's. @param text a day (UTC) */
export function deleteDay(folder: string, text: string, { io }: CommandCall): number {
  const path = pathOf(folder, dayIn(text, "delete"), DAY_END);
  if (!existsSync(path)) throw new Error(`${path}: there is no such day, or it is not over for an hour yet`);
  rmSync(path);
  io.err(`${path}: deleted\n`);
  return EXIT.ok;
}

/** The program that has the files open does it, or does it at its next start. */
export async function forgetKept(folder: string, key: string, { io }: CommandCall): Promise<void> {
  await askToForget(folder, key, Date.now(), logTo(io));
}

/** Keys of devices of which something is kept. */
export function keptKeys(folder: string, { io }: CommandCall): Set<string> {
  const keys = new Set<string>();
  for (const { info } of keptRows(folder, () => true, logTo(io))) keys.add(info.device);
  return keys;
}

function logTo(io: CommandCall["io"]): Log {
  return (_, event) => io.err(`${event}\n`);
}

function dayIn(text: string, option: string): number {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(at)) throw new UsageError(`--${option}: expected a day (UTC), as in 2026-11-26`);
  return at / DAY_MS;
}

/** A cell that begins as a formula would be one in a spreadsheet. */
function cell(text: string): string {
  const plain = /^[=+@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
