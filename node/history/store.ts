/**
 * Values of readings over days, in files of a folder: a log of today, which is appended to, and one file for each past day, which is
 * written once. Nothing is read without a question, and nothing is written without a value.
 */
import { readFileSync, rmSync, statSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import type { Gap, Sample, SeriesInfo, SideOf, Stretch } from "@edgecall/core/history/sample.ts";
import { writeAtomic } from "../atomic-write.ts";
import { type Log, messageOf } from "../log.ts";
import { DAY_MS, DayFile, type DaySeries, dayOf, type SeriesName, sameSeries, toTick } from "./day-file.ts";
import { DAY_END, DayLogs, daysIn, nameOf, pathOf, type Stored } from "./day-logs.ts";
import { type Forgotten, readForgotten, writeForgotten } from "./forgotten.ts";
import { inOrder } from "./in-order.ts";
import { packDay } from "./pack-day.ts";

/** Files that are read before other work of the process has its turn. */
const FILES_AT_ONCE = 20;
/** What a disk that takes nothing leaves in memory. */
const WAITING_MAX = 50_000;
/** A day is packed when it is over for so long: what is late has come. */
const PACK_AFTER_MS = 10 * 60_000;

export type StoreOptions = {
  folder: string;
  /** Days that are kept, today too. */
  days: number;
  maxBytes: number;
  log: Log;
};

/** What was kept of a series in a part of time. */
export type Slice = {
  /** Epoch ms. */
  from: number;
  /** In the order of their times, from the one that held at the beginning. */
  samples: Sample[];
  gaps: Gap[];
  isCoarse: boolean;
};

/**
 * @property cuts no stretch may have one of these times in it
 * @property isEnough whether the values of a stretch need not be read
 * @property sideOf of values after each other that are on one side, those behind the first one may be left out
 */
export type Needs = {
  cuts: readonly number[];
  isEnough: (stretch: Stretch) => boolean;
  sideOf?: SideOf | undefined;
};

type Shorten = { isEnough?: (short: readonly Sample[]) => boolean; sideOf: SideOf | undefined };

export class HistoryStore {
  readonly #options: StoreOptions;
  readonly #logs: DayLogs;
  /** Days that have a file. */
  readonly #files: Set<number>;
  /** Days whose gaps are not known, since their files could not be read yet. */
  readonly #unread: Set<number>;
  #gaps: Gap[];
  #forgotten: Forgotten;
  #waiting: Stored[] = [];
  #newGaps: Gap[] = [];
  #coarse = new Map<string, SeriesInfo>();
  /** One write at a time. */
  #work: Promise<void> = Promise.resolve();
  #hasFailed = false;
  /** Until when it was written that the bridge was there (epoch ms), for each file; none: there is nothing. */
  readonly #alive: number[];

  private constructor(
    options: StoreOptions,
    {
      logs,
      files,
      unread,
      gaps,
      alive,
      forgotten,
    }: {
      logs: DayLogs;
      files: number[];
      unread: number[];
      gaps: Gap[];
      alive: number[];
      forgotten: Forgotten;
    },
  ) {
    this.#options = options;
    this.#logs = logs;
    this.#files = new Set(files);
    this.#unread = new Set(unread);
    this.#gaps = gaps.sort((a, b) => a.from - b.from);
    this.#alive = alive;
    this.#forgotten = forgotten;
  }

  /**
   * Reads what the files say beside values, and cuts off what a power cut left at the end of a log.
   * @param now epoch ms: later days were written by a clock that was ahead, and none is missing before them
   */
  static async open(options: StoreOptions, now = Number.POSITIVE_INFINITY): Promise<HistoryStore> {
    const { folder, log } = options;
    const { logs, gaps, alive } = await DayLogs.open(folder);
    const files: number[] = [];
    const unread: number[] = [];
    for (const [nth, day] of daysIn(folder, DAY_END).entries()) {
      if (nth % FILES_AT_ONCE === FILES_AT_ONCE - 1) await turn();
      try {
        const {
          gaps: own,
          alive: until,
          source,
        } = DayFile.use(pathOf(folder, day, DAY_END), day, (file) => file);
        gaps.push(...own);
        alive.push(until);
        files.push(day);
        // A power cut came between the file and the end of its log.
        if (logs.checksum(day) === source) await logs.remove(day);
      } catch (error) {
        if (!cannotReadNow(error)) {
          log("error", "history.damaged", { day: dayText(day), error: messageOf(error) });
          continue;
        }
        log("warn", "history.not_read", { error: notReadText(day, error) });
        files.push(day);
        unread.push(day);
        // It was written when the day was over.
        alive.push((day + 1) * DAY_MS);
      }
    }
    const there = [...files, ...logs.days()].filter((day) => day <= dayOf(now));
    gaps.push(...missingDays(there, gaps));
    return new HistoryStore(options, {
      logs,
      files,
      unread,
      gaps,
      alive,
      forgotten: readForgotten(folder, log),
    });
  }

  /** @returns until when the program that wrote it was there, as it wrote, at the latest until `until` (epoch ms); 0: nothing was written */
  alive(until = Number.POSITIVE_INFINITY): number {
    return this.#alive.reduce((last, at) => (at <= until ? Math.max(last, at) : last), 0);
  }

  /** Values that wait for the disk. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Bytes of all files of days and logs. */
  get bytes(): number {
    const sizes = [...this.#files].map((day) => sizeOf(pathOf(this.#options.folder, day, DAY_END)));
    return sizes.reduce((sum, size) => sum + size, this.#logs.bytes);
  }

  /** Days of which something is kept (days since 1970, UTC), the oldest first. */
  days(): number[] {
    const waiting = this.#waiting.map(({ at }) => dayOf(at));
    return [...new Set([...this.#files, ...this.#logs.days(), ...waiting])].sort((a, b) => a - b);
  }

  /** A value, which is on the disk after the next `sync`. */
  add(info: SeriesInfo, { at, value }: Sample): void {
    this.#waiting.push({ info, at: toTick(at), value });
    if (this.#waiting.length <= WAITING_MAX) return;
    const [first] = this.#waiting;
    this.#waiting = [];
    this.addGap({ from: first?.at ?? at, to: at, why: "disk" });
  }

  /** A time of which nothing is known. It is on the disk after the next `sync`. */
  addGap(gap: Gap): void {
    const rounded = { ...gap, from: toTick(gap.from), to: toTick(gap.to) };
    this.#newGaps.push(rounded);
    this.#gaps.push(rounded);
    this.#gaps.sort((a, b) => a.from - b.from);
  }

  /** Values of the series came faster than they are kept. */
  addCoarse(info: SeriesInfo): void {
    this.#coarse.set(nameOf(info), info);
  }

  /** Appends what waits. @param now until when the program was there (epoch ms) @returns whether the disk took it */
  async sync(now: number): Promise<boolean> {
    try {
      await this.#alone(() => this.#append(now));
      this.#hasFailed = false;
      return true;
    } catch (error) {
      if (!this.#hasFailed) this.#options.log("error", "history.not_written", { error: messageOf(error) });
      this.#hasFailed = true;
      return false;
    }
  }

  async #append(now: number): Promise<void> {
    const [values, gaps, coarse] = [this.#waiting, this.#newGaps, this.#coarse];
    const today = dayOf(now);
    const byDay = Map.groupBy([...values], ({ at }) => dayOf(at));
    for (const day of new Set([...byDay.keys(), today])) {
      const own = byDay.get(day) ?? [];
      const written = new Set<unknown>([...own, ...(day === today ? gaps : [])]);
      const isToday = day === today;
      const happened = {
        values: own,
        gaps: isToday ? [...gaps] : [],
        coarse: isToday ? [...coarse.values()] : [],
        alive: isToday ? now : undefined,
      };
      await this.#logs.append(day, happened, () => {
        // What came while the disk was busy waits for the next time.
        this.#waiting = this.#waiting.filter((one) => !written.has(one));
        this.#newGaps = this.#newGaps.filter((gap) => !written.has(gap));
        for (const info of happened.coarse) coarse.delete(nameOf(info));
        if (isToday) this.#alive.push(...this.#alive.splice(0).filter((at) => dayOf(at) !== day), now);
      });
    }
  }

  /** Makes a file of each day that is over, and drops what is too old or too much. */
  async pack(now: number): Promise<void> {
    await this.#alone(async () => {
      for (const day of this.#logs.days()) {
        if (now < (day + 1) * DAY_MS + PACK_AFTER_MS) continue;
        await this.#packIfRead(day);
      }
      await this.#dropOld(now);
    });
  }

  /**
   * What was kept of a series from `from` to `to`, and the value that held at `from`.
   * @param later what was read already of the end of this time: its files are not read again
   * @param needs days may be in short, as samples with a stretch; absent: all values are read
   */
  async read(
    series: SeriesName,
    from: number,
    to: number,
    { later, needs }: { later?: Slice | undefined; needs?: Needs } = {},
  ): Promise<Slice> {
    this.#readUnread();
    // Behind a gap nothing is known until a value came, so nothing before the last one counts.
    const before = this.#gaps.findLast((gap) => gap.to < from)?.to ?? 0;
    const until = later?.from ?? to;
    /** Of each day, the last one first. */
    const days = later ? [later.samples.filter(({ at }) => at >= until)] : [];
    let isCoarse = later?.isCoarse === true;
    for await (const day of this.#backwards(series, until, needs && this.#shorten(needs, from, until))) {
      const isBefore = (day.samples.at(-1)?.at ?? 0) < until;
      const samples = isBefore ? day.samples : day.samples.filter(({ at }) => at < until);
      days.push(samples);
      isCoarse ||= day.isCoarse && (day.day + 1) * DAY_MS > from;
      if ((samples[0]?.at ?? to) <= from || day.day * DAY_MS <= before) break;
    }
    const all = days.reverse().flat();
    const held = all.findLastIndex(({ at }) => at <= from);
    const samples = held > 0 ? all.slice(held) : all;
    const first = Math.min(from, samples[0]?.at ?? from);
    return { from, samples, gaps: this.gapsIn(first, to), isCoarse };
  }

  /** The days of a series from that of `to` on back, those without a value too. */
  async *#backwards(
    series: SeriesName,
    to: number,
    shorten: ((day: number) => Shorten | undefined) | undefined,
  ): AsyncGenerator<{ day: number; samples: Sample[]; isCoarse: boolean }> {
    const last = dayOf(to);
    let read = 0;
    for (const day of this.days().reverse()) {
      if (day > last) continue;
      read += 1;
      if (read % FILES_AT_ONCE === 0) await turn();
      yield { day, ...this.#ofDay(series, day, shorten?.(day)) };
    }
  }

  /**
   * @returns of each day, whether it may be in short: only a whole one without a gap, in which figures of one period are made. Behind a
   * gap the next value counts, whatever it is; without one those that are alike are left out
   */
  #shorten(
    { cuts, isEnough, sideOf }: Needs,
    from: number,
    to: number,
  ): (day: number) => Shorten | undefined {
    const cut = new Set(cuts.filter((at) => at % DAY_MS !== 0).map(dayOf));
    const whole = new Set<number>();
    for (const gap of this.gapsIn(from, to))
      for (let day = dayOf(Math.max(gap.from, from)); day <= dayOf(Math.min(gap.to, to)); day += 1)
        whole.add(day);
    return (day) => {
      const [begin, end] = [day * DAY_MS, (day + 1) * DAY_MS];
      if (whole.has(day)) return undefined;
      if (cut.has(day) || begin < from || end > to)
        return this.gapsIn(begin, end).length > 0 ? undefined : { sideOf };
      return {
        isEnough: (short) =>
          short.every(({ at, stretch }) => (stretch?.from ?? at) > begin && (!stretch || isEnough(stretch))),
        sideOf,
      };
    };
  }

  /** The gaps that touch a part of time, by their beginnings. */
  gapsIn(from: number, to: number): Gap[] {
    return this.#gaps.filter((gap) => gap.to >= from && gap.from < to);
  }

  /** Forgets what was kept of a device until now: no answer has it any more, and the files are written anew. */
  async forget(device: string, now: number): Promise<void> {
    const { folder, log } = this.#options;
    this.#forgotten = new Map([...this.#forgotten, [device, now]]);
    await writeForgotten(folder, new Map([...readForgotten(folder, log), ...this.#forgotten]));
    await this.#alone(async () => {
      const isGone = (info: SeriesInfo, at: number) => info.device === device && at < now;
      this.#waiting = this.#waiting.filter(({ info, at }) => !isGone(info, at));
      for (const day of this.#logs.days()) await this.#logs.without(day, isGone);
      let isWhole = true;
      for (const day of [...this.#files]) {
        if (this.#mayHave(device, day)) isWhole = (await this.#packIfRead(day)) && isWhole;
        await turn();
      }
      // The next start goes on with what could not be read.
      if (!isWhole) return;
      const isLeft = ([key, at]: [string, number]) => key !== device || at > now;
      this.#forgotten = new Map([...this.#forgotten].filter(isLeft));
      // Another program may have asked for more meanwhile.
      await writeForgotten(folder, new Map([...readForgotten(folder, log)].filter(isLeft)));
    });
    log("info", "history.device_deleted", {});
  }

  /** Deletes a day (days since 1970, UTC). */
  async deleteDay(day: number): Promise<void> {
    await this.#alone(async () => {
      this.#waiting = this.#waiting.filter(({ at }) => dayOf(at) !== day);
      await this.#drop(day);
      this.#isGone(day);
    });
    this.#options.log("info", "history.day_deleted", { day: dayText(day) });
  }

  /** Devices that another program wants to be forgotten. */
  wanted(): string[] {
    const { folder, log } = this.#options;
    return [...readForgotten(folder, log).keys()].filter((device) => !this.#forgotten.has(device));
  }

  /** Deletes of which an earlier run was ended in the middle. */
  async resume(): Promise<void> {
    for (const [device, at] of this.#forgotten) await this.forget(device, at);
  }

  /** Ends when what is under way has ended. What waits is not written. */
  async close(): Promise<void> {
    await this.#work;
    await this.#logs.close();
  }

  #ofDay(
    series: SeriesName,
    day: number,
    shorten: Shorten | undefined,
  ): { samples: Sample[]; isCoarse: boolean } {
    const waiting = this.#waiting.filter(({ info, at }) => dayOf(at) === day && sameSeries(info, series));
    const inLog = this.#logs.valuesOf(day, series);
    const since = this.#forgotten.get(series.device) ?? 0;
    const isInFile = waiting.length === 0 && inLog.samples.length === 0 && since === 0;
    const file = this.#files.has(day) ? this.#inFile(series, day, isInFile ? shorten : undefined) : undefined;
    const isCoarse = file?.isCoarse === true || inLog.isCoarse || this.#coarse.has(nameOf(series));
    const samples = file?.samples ?? [];
    for (const sample of inLog.samples) samples.push(sample);
    for (const { at, value } of waiting) samples.push({ at, value });
    const kept = since === 0 ? samples : samples.filter(({ at }) => at >= since);
    return { samples: inOrder(kept), isCoarse };
  }

  /** @returns undefined: there is nothing, or the file is damaged, which is said once @throws an error where it cannot be read now */
  #inFile(series: SeriesName, day: number, shorten: Shorten | undefined): DaySeries | undefined {
    try {
      return DayFile.use(pathOf(this.#options.folder, day, DAY_END), day, (file) =>
        file.find(series, shorten),
      );
    } catch (error) {
      if (cannotReadNow(error)) throw new Error(notReadText(day, error));
      this.#damaged(day, error);
      return undefined;
    }
  }

  /** What they say beside values counts for all days. */
  #readUnread(): void {
    for (const day of this.#unread)
      try {
        const { gaps } = DayFile.use(pathOf(this.#options.folder, day, DAY_END), day, (file) => file);
        this.#unread.delete(day);
        this.#gaps.push(...gaps);
        this.#gaps.sort((a, b) => a.from - b.from);
      } catch (error) {
        if (cannotReadNow(error)) continue;
        this.#unread.delete(day);
        this.#damaged(day, error);
      }
  }

  /** True also where the file cannot be read. */
  #mayHave(device: string, day: number): boolean {
    try {
      return DayFile.use(pathOf(this.#options.folder, day, DAY_END), day, (file) => {
        for (const { info } of file.all()) if (info.device === device) return true;
        return false;
      });
    } catch {
      return true;
    }
  }

  /** @returns false: its file cannot be read now, which is said, and stays as it is */
  async #packIfRead(day: number): Promise<boolean> {
    try {
      await this.#packDay(day);
      return true;
    } catch (error) {
      if (!cannotReadNow(error)) throw error;
      this.#options.log("warn", "history.not_read", { error: notReadText(day, error) });
      return false;
    }
  }

  #damaged(day: number, error: unknown): void {
    this.#files.delete(day);
    this.#isGone(day);
    const isDeleted = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (isDeleted) this.#options.log("info", "history.day_deleted", { day: dayText(day) });
    else this.#options.log("error", "history.damaged", { day: dayText(day), error: messageOf(error) });
  }

  /** The value of the day before must not seem to hold over a day that is not there. */
  #isGone(day: number): void {
    this.#gaps.push(wholeDay(day));
    this.#gaps.sort((a, b) => a.from - b.from);
  }

  async #packDay(day: number): Promise<void> {
    const path = pathOf(this.#options.folder, day, DAY_END);
    const isKept = ({ device }: SeriesInfo, at: number) => at >= (this.#forgotten.get(device) ?? 0);
    const pack = (file: DayFile | undefined) => packDay({ day, file, logs: this.#logs, isKept });
    let bytes: Buffer;
    try {
      bytes = await pack(this.#files.has(day) ? DayFile.of(readFileSync(path), day) : undefined);
    } catch (error) {
      if (cannotReadNow(error)) throw error;
      // What is damaged cannot be written anew, and must not keep what is to go.
      this.#damaged(day, error);
      rmSync(path, { force: true });
      bytes = await pack(undefined);
    }
    await writeAtomic(path, bytes);
    this.#files.add(day);
    await this.#logs.remove(day);
  }

  async #dropOld(now: number): Promise<void> {
    const { days, maxBytes, log } = this.#options;
    // A clock that is years ahead for some hours makes no day old: the day that is left before it counts.
    const last = this.days().findLast((day) => day < dayOf(now)) ?? dayOf(now);
    const first = Math.min(dayOf(now), last + 1) - days + 1;
    for (const day of this.days()) {
      const isTooMuch = this.bytes > maxBytes && this.days().length > 1;
      if (day >= first && !isTooMuch) break;
      await this.#drop(day);
      log("info", "history.day_dropped", { day: dayText(day), why: day < first ? "age" : "size" });
    }
    const oldest = this.days()[0];
    if (oldest !== undefined) this.#gaps = this.#gaps.filter(({ to }) => to >= oldest * DAY_MS);
  }

  async #drop(day: number): Promise<void> {
    this.#files.delete(day);
    this.#unread.delete(day);
    rmSync(pathOf(this.#options.folder, day, DAY_END), { force: true });
    await this.#logs.remove(day);
  }

  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }
}

/** Days between others of which there is no file. A bridge writes each day, so their files were deleted or cannot be read. */
function missingDays(days: readonly number[], gaps: readonly Gap[]): Gap[] {
  const there = new Set(days);
  const [first, last] = [Math.min(...days), Math.max(...days)];
  const missing: Gap[] = [];
  let before = first;
  for (let day = first; day < last; day += 1) {
    const gap = wholeDay(day);
    if (there.has(day)) {
      before = day;
      continue;
    }
    // One without an end lasts until the next value.
    const isTold = gaps.some(
      ({ from, to }) => (from <= gap.from && to >= gap.to) || (from === to && dayOf(to) === before),
    );
    if (!isTold) missing.push(gap);
  }
  return missing;
}

function wholeDay(day: number): Gap {
  return { from: day * DAY_MS, to: (day + 1) * DAY_MS, why: "gone" };
}

/** The file itself may be whole: the process has too many open ones, or may not read it. */
function cannotReadNow(error: unknown): boolean {
  return ["EACCES", "EMFILE", "ENFILE", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function notReadText(day: number, error: unknown): string {
  return `the file of ${dayText(day)} cannot be read now: ${messageOf(error)}`;
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
