/** Makes the file of a day of its log, and of the file that there is already. */
import { setImmediate as turn } from "node:timers/promises";
import type { Gap, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { type DayFile, DayFileMaker, type DaySeries, seriesHash } from "./day-file.ts";
import { type DayLogs, nameOf } from "./day-logs.ts";
import { inOrder } from "./in-order.ts";

/** Series whose values are in memory at a time. */
const SERIES_AT_ONCE = 750;
/** Blocks of the log, and series, after which other work of the process has its turn. */
const BLOCKS_A_TURN = 40;
const SERIES_A_TURN = 30;

type PackParts = {
  day: number;
  file: DayFile | undefined;
  logs: Pick<DayLogs, "about" | "checksum" | "valuesOf">;
  /** False: what was kept is to go. */
  isKept: (info: SeriesInfo, at: number) => boolean;
};

/** @returns the bytes of the file @throws an error where the file that there is is damaged */
export async function packDay({ day, file, logs, isKept }: PackParts): Promise<Buffer> {
  const gaps: Gap[] = [...(file?.gaps ?? [])];
  let alive = file?.alive ?? 0;
  /** By their names. */
  const series = new Map<string, { info: SeriesInfo; isCoarse: boolean }>();
  const byId = new Map<number, { isCoarse: boolean }>();
  for (const { info, isCoarse } of file?.all() ?? []) series.set(nameOf(info), { info, isCoarse });
  let blocks = 0;
  for (const entries of logs.about(day)) {
    blocks += 1;
    if (blocks % BLOCKS_A_TURN === 0) await turn();
    for (const entry of entries) {
      if (entry.of === "gap") gaps.push(entry.gap);
      if (entry.of === "alive") alive = Math.max(alive, entry.at);
      if (entry.of === "series") {
        const known = series.get(nameOf(entry.info));
        const one = { info: entry.info, isCoarse: known?.isCoarse === true };
        series.set(nameOf(entry.info), one);
        byId.set(entry.id, one);
      }
      const coarse = entry.of === "coarse" ? byId.get(entry.id) : undefined;
      if (coarse) coarse.isCoarse = true;
    }
  }
  const hashOf = ({ info }: { info: SeriesInfo }) => seriesHash(info.device, info.reading);
  const ordered = [...series.values()].sort((a, b) => hashOf(a) - hashOf(b));
  const made = new DayFileMaker(day);
  for (let at = 0; at < ordered.length; at += SERIES_AT_ONCE) {
    const part = ordered.slice(at, at + SERIES_AT_ONCE);
    const inFile = new Map<string, Sample[]>();
    const names = new Set(part.map(({ info }) => nameOf(info)));
    for (const { info, samples } of file?.all() ?? [])
      if (names.has(nameOf(info))) inFile.set(nameOf(info), samples);
    for (const [nth, { info, isCoarse }] of part.entries()) {
      if (nth % SERIES_A_TURN === 0) await turn();
      const all = [...(inFile.get(nameOf(info)) ?? []), ...logs.valuesOf(day, info).samples];
      const kept = all.filter((sample) => isKept(info, sample.at));
      const packed: DaySeries = { info, isCoarse, samples: inOrder(kept) };
      made.add(packed);
    }
  }
  const source = logs.checksum(day) ?? file?.source ?? 0;
  return made.done({ gaps: gaps.sort((a, b) => a.from - b.from), alive, source });
}
