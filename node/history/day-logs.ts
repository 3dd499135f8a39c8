/** The logs of days that are not packed: that of today, and those of days to which something was added since. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Gap, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { writeAtomic } from "../atomic-write.ts";
import { BlockLog, toBlock } from "./block-log.ts";
import { DAY_MS, type SeriesName } from "./day-file.ts";
import { DayValues } from "./day-values.ts";
import { decodeAbout, decodeEntries, type Entry, encodeEntries } from "./records.ts";

export const LOG_END = ".log";
export const DAY_END = ".day";

/** A value that waits for the disk, or comes from it. */
export type Stored = { info: SeriesInfo; at: number; value: (Entry & { of: "value" })["value"] };

/** @property alive until when the program was there (epoch ms) */
type Happened = {
  values: readonly Stored[];
  gaps: readonly Gap[];
  coarse: readonly SeriesInfo[];
  alive: number | undefined;
};

/** Blocks that are read before other work of the process has its turn. */
const BLOCKS_A_TURN = 20;

/** @property ids the log's number of each series @property values what the log has of each, by that number */
type Open = {
  log: BlockLog;
  ids: Map<string, number>;
  values: Map<number, DayValues>;
  coarse: Set<number>;
};

export class DayLogs {
  readonly #folder: string;
  readonly #open = new Map<number, Open>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns what stands in them beside values */
  static async open(folder: string): Promise<{ logs: DayLogs; gaps: Gap[]; alive: number[] }> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const logs = new DayLogs(folder);
    const gaps: Gap[] = [];
    const alive: number[] = [];
    for (const day of daysIn(folder, LOG_END)) {
      let until = 0;
      const { log, blocks } = await BlockLog.open(pathOf(folder, day, LOG_END));
      const open = newOpen(log);
      for (const [nth, block] of blocks.entries()) {
        if (nth % BLOCKS_A_TURN === 0) await turn();
        for (const entry of entriesOf(block)) {
          keep(open, entry);
          if (entry.of === "gap") gaps.push(entry.gap);
          if (entry.of === "alive") until = Math.max(until, entry.at);
        }
      }
      alive.push(until);
      logs.#open.set(day, open);
    }
    return { logs, gaps, alive };
  }

  /** Days that have a log (days since 1970, UTC), the oldest first. */
  days(): number[] {
    return [...this.#open.keys()].sort((a, b) => a - b);
  }

  /** Bytes of all logs. */
  get bytes(): number {
    return [...this.#open.values()].reduce((sum, { log }) => sum + log.bytes, 0);
  }

  /** Appends what happened on a day, in one block. @throws the system's error: then nothing was appended */
  async append(day: number, { values, gaps, coarse, alive }: Happened, committed: () => void): Promise<void> {
    const open = await this.#of(day);
    const ids = new Map(open.ids);
    const entries: Entry[] = gaps.map((gap) => ({ of: "gap", gap }));
    const idOf = (info: SeriesInfo) => {
      const name = nameOf(info);
      const known = ids.get(name);
      if (known !== undefined) return known;
      const id = ids.size;
      ids.set(name, id);
      entries.push({ of: "series", id, info });
      return id;
    };
    for (const { info, at, value } of values) entries.push({ of: "value", id: idOf(info), at, value });
    for (const info of coarse) entries.push({ of: "coarse", id: idOf(info) });
    if (alive !== undefined) entries.push({ of: "alive", at: alive });
    await open.log.append(encodeEntries(entries, day * DAY_MS), () => {
      open.ids = ids;
      for (const entry of entries) if (entry.of !== "series") keep(open, entry);
      committed();
    });
  }

  /** The checksum of the day's log as it is now; undefined: there is none. */
  checksum(day: number): number | undefined {
    return this.#open.get(day)?.log.checksum;
  }

  /** The values of a series in a day's log, in the order in which they came. */
  valuesOf(day: number, series: SeriesName): { samples: Sample[]; isCoarse: boolean } {
    const open = this.#open.get(day);
    const id = open?.ids.get(nameOf(series));
    if (!open || id === undefined) return { samples: [], isCoarse: false };
    return { samples: open.values.get(id)?.samples() ?? [], isCoarse: open.coarse.has(id) };
  }

  /** The entries of a day's log beside values, block by block. */
  *about(day: number): Generator<Entry[]> {
    for (const block of this.#open.get(day)?.log.blocks() ?? []) yield entriesOf(block, decodeAbout);
  }

  /** Writes the log anew without some of its series. */
  async without(day: number, isGone: (info: SeriesInfo, at: number) => boolean): Promise<void> {
    const open = this.#open.get(day);
    if (!open) return;
    const blocks: Buffer[] = [];
    const infos = new Map<number, SeriesInfo>();
    const values = new Map<number, DayValues>();
    for (const block of open.log.blocks()) {
      const kept = entriesOf(block).filter((entry) => {
        if (entry.of === "series") infos.set(entry.id, entry.info);
        const info = entry.of === "value" ? infos.get(entry.id) : undefined;
        return !info || entry.of !== "value" || !isGone(info, entry.at);
      });
      for (const entry of kept) keep({ ...open, values }, entry);
      if (kept.length > 0) blocks.push(toBlock(encodeEntries(kept, day * DAY_MS)));
    }
    await open.log.close();
    const path = pathOf(this.#folder, day, LOG_END);
    await writeAtomic(path, Buffer.concat(blocks));
    open.log = (await BlockLog.open(path)).log;
    open.values = values;
  }

  /** The day's log is not needed any more. */
  async remove(day: number): Promise<void> {
    const open = this.#open.get(day);
    if (!open) return;
    await open.log.close();
    this.#open.delete(day);
    rmSync(pathOf(this.#folder, day, LOG_END), { force: true });
  }

  /** Closes the files. */
  async close(): Promise<void> {
    for (const { log } of this.#open.values()) await log.close();
  }

  async #of(day: number): Promise<Open> {
    const known = this.#open.get(day);
    if (known) return known;
    const { log } = await BlockLog.open(pathOf(this.#folder, day, LOG_END));
    const open = newOpen(log);
    this.#open.set(day, open);
    return open;
  }
}

/** @returns days whose files end so, the oldest first */
export function daysIn(folder: string, end: string): number[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(end));
  const times = names.map((name) => Date.parse(`${name.slice(0, -end.length)}T00:00:00Z`));
  return times
    .filter((time) => Number.isInteger(time))
    .map((time) => time / DAY_MS)
    .sort((a, b) => a - b);
}

/** `2026-11-26.log` */
export function pathOf(folder: string, day: number, end: string): string {
  return join(folder, `${new Date(day * DAY_MS).toISOString().slice(0, 10)}${end}`);
}

function newOpen(log: BlockLog): Open {
  return { log, ids: new Map(), values: new Map(), coarse: new Set() };
}

/** The values of the log are in memory too. */
function keep({ ids, values, coarse }: Open, entry: Entry): void {
  if (entry.of === "series") ids.set(nameOf(entry.info), entry.id);
  if (entry.of === "coarse") coarse.add(entry.id);
  if (entry.of !== "value") return;
  const own = values.get(entry.id) ?? new DayValues();
  values.set(entry.id, own);
  own.add(entry.at, entry.value);
}

/** A block with a right checksum that is none of ours says nothing. */
function entriesOf(block: Buffer, decode = decodeEntries): Entry[] {
  try {
    return decode(block);
  } catch {
    return [];
  }
}

/** The key of a series in maps. */
export function nameOf({ device, reading, unit = "" }: SeriesName): string {
  return `${device}\0${reading}\0${unit}`;
}
