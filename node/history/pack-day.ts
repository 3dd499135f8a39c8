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
  logs: Pick<DayLogs, "checksum" | "entries">;
  /** False: what was kept is to go. */
  isKept: (info: SeriesInfo, at: number) => boolean;
};

/** @returns the bytes of the file @throws an error where the file that there is is damaged */
export async function packDay({ day, file, logs, isKept }: PackParts): Promise<Buffer> {
  const gaps: Gap[] = [...(file?.gaps ?? [])];
  let alive = file?.alive ?? 0;
  /** By their names: the log's ids of each. */
  const series = new Map<string, { info: SeriesInfo; id: number | undefined; isCoarse: boolean }>();
  const byId = new Map<number, { isCoarse: boolean }>();
  for (const { info, isCoarse } of file?.all() ?? [])
    series.set(nameOf(info), { info, id: undefined, isCoarse });
  let blocks = 0;
  const pause = async () => {
    blocks += 1;
    if (blocks % BLOCKS_A_TURN === 0) await turn();
  };
  for (const entries of logs.entries(day, "about")) {
    await pause();
    for (const entry of entries) {
      if (entry.of === "gap") gaps.push(entry.gap);
      if (entry.of === "alive") alive = Math.max(alive, entry.at);
      if (entry.of === "series") {
        const known = series.get(nameOf(entry.info));
        const one = { info: entry.info, id: entry.id, isCoarse: known?.isCoarse === true };
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
    const samples = new Map<string, Sample[]>(part.map(({ info }) => [nameOf(info), []]));
    const inLog = new Map(
      part.flatMap(({ info, id }) => (id === undefined ? [] : [[id, samples.get(nameOf(info))] as const])),
    );
    const ids = new Set(inLog.keys());
    for (const one of file?.all() ?? []) samples.get(nameOf(one.info))?.push(...one.samples);
    for (const entries of logs.entries(day, ids)) {
      await pause();
      for (const entry of entries)
        if (entry.of === "value") inLog.get(entry.id)?.push({ at: entry.at, value: entry.value });
    }
    for (const [nth, { info, isCoarse }] of part.entries()) {
      if (nth % SERIES_A_TURN === 0) await turn();
      const kept = samples.get(nameOf(info))?.filter((sample) => isKept(info, sample.at)) ?? [];
      const packed: DaySeries = { info, isCoarse, samples: inOrder(kept) };
      made.add(packed);
    }
  }
  const source = logs.checksum(day) ?? file?.source ?? 0;
  return made.done({ gaps: gaps.sort((a, b) => a.from - b.from), alive, source });
}
