/** Devices whose past is to go, until all files are written without it: a program that is ended in the middle goes on with it. */
import { chownSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "../atomic-write.ts";
import type { Log } from "../log.ts";

/** Until when (epoch ms), by the device's key. */
export type Forgotten = ReadonlyMap<string, number>;

const FILE = "deleting.json";
const Content = z.record(z.string(), z.number());

/** Reads the list. A file that is not there, or damaged, is an empty one. */
export function readForgotten(folder: string, log: Log): Forgotten {
  let text: string;
  try {
    text = readFileSync(join(folder, FILE), "utf8");
  } catch {
    return new Map();
  }
  const content = checkJson(Content, text);
  if (!content.ok) log("warn", "history.unreadable", { file: FILE, error: content.error });
  return new Map(content.ok ? Object.entries(content.value) : []);
}

/** Writes the list; an empty one is no file. */
export async function writeForgotten(folder: string, forgotten: Forgotten): Promise<void> {
  const path = join(folder, FILE);
  if (forgotten.size === 0) rmSync(path, { force: true });
  else await writeAtomic(path, JSON.stringify(Object.fromEntries(forgotten)));
}

/** Asks the program that has the files open to forget a device: it does so within seconds, or at its next start. */
export async function askToForget(folder: string, device: string, now: number, log: Log): Promise<void> {
  await writeForgotten(folder, new Map([...readForgotten(folder, log), [device, now]]));
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  chownSync(join(folder, FILE), uid, gid);
}
