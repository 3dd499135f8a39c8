/** Reads all that is kept, for a person. It changes no file, so the program that writes them may run. */
import { readFileSync } from "node:fs";
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { Log } from "../log.ts";
import { readBlocks } from "./block-log.ts";
import { DayFile } from "./day-file.ts";
import { DAY_END, daysIn, LOG_END, pathOf } from "./day-logs.ts";
import { readForgotten } from "./forgotten.ts";
import { decodeEntries } from "./records.ts";

type KeptRow = { info: SeriesInfo; at: number; value: KeptValue | null };

/**
 * Day by day, each reading in the order of its times.
 * @param wants of which days (days since 1970, UTC)
 * @throws an error that names a file that cannot be read
 */
export function* keptRows(folder: string, wants: (day: number) => boolean, log: Log): Generator<KeptRow> {
  const forgotten = readForgotten(folder, log);
  const isKept = ({ info, at }: KeptRow) => at >= (forgotten.get(info.device) ?? 0);
  const days = new Set([...daysIn(folder, DAY_END), ...daysIn(folder, LOG_END)]);
  for (const day of [...days].filter(wants).sort((a, b) => a - b))
    for (const row of [...rowsOfFile(folder, day), ...rowsOfLog(folder, day)]) if (isKept(row)) yield row;
}

function rowsOfFile(folder: string, day: number): KeptRow[] {
  const file = contentOf(pathOf(folder, day, DAY_END));
  if (!file) return [];
  return [...DayFile.of(file, day).all()].flatMap(({ info, samples }) =>
    samples.map((sample) => ({ info, ...sample })),
  );
}

function rowsOfLog(folder: string, day: number): KeptRow[] {
  const infos = new Map<number, SeriesInfo>();
  return readBlocks(contentOf(pathOf(folder, day, LOG_END)) ?? Buffer.alloc(0)).blocks.flatMap((block) =>
    decodeEntries(block).flatMap((entry): KeptRow[] => {
      if (entry.of === "series") infos.set(entry.id, entry.info);
      const info = entry.of === "value" ? infos.get(entry.id) : undefined;
      return entry.of === "value" && info ? [{ info, at: entry.at, value: entry.value }] : [];
    }),
  );
}

/** @returns undefined: it is not there, or was packed meanwhile */
function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
