/**
 * Keeps the values of readings as they come: decides with `SeriesKeeper` which, and gives them to the store. Values reach the disk
 * within five minutes, and within one where a state changed.
 */
import type { Gap, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { type Clock, SteadyTime } from "../clock.ts";
import { DAY_MS, dayOf, type SeriesName, TICK_MS, toTick } from "./day-file.ts";
import { nameOf } from "./day-logs.ts";
import { keptValue, SeriesKeeper } from "./keeper.ts";
import { HistoryStore, type StoreOptions } from "./store.ts";

const SYNC_MS = 300_000;
const STATE_SYNC_MS = 60_000;
const PACK_MS = 3_600_000;
const LOOK_MS = 10_000;
/** A machine that starts has its time set within this. */
const YOUNG_MS = 900_000;
/** Readings of a home that are kept. */
const SERIES_MAX = 3_000;
/** A day that has more keeps its numbers less often. */
const VALUES_A_DAY_MAX = 1_000_000;

type Kept = { info: SeriesInfo; keeper: SeriesKeeper; isThere: boolean };

export class HistoryRecorder {
  readonly store: HistoryStore;
  readonly #options: StoreOptions & { clock: Clock };
  readonly #time: SteadyTime;
  readonly #series = new Map<string, Kept>();
  readonly #byDevice = new Map<string, SeriesInfo[]>();
  /** When the program began (epoch ms), until values may come. */
  #begunAt: number | undefined;
  /** When it began, by both clocks. */
  #started: { now: number; wall: number };
  /** Since when times are by the clock as it is set now (epoch ms). */
  #setAt: number;
  /** Monotonic ms. */
  #syncAt: number;
  #packAt: number;
  #lookAt = 0;
  #day = 0;
  #valuesToday = 0;
  #hasSaidSparse = false;
  #isFull = false;
  #isStopped = false;
  /** The end of the last gap (epoch ms). */
  #notBefore = 0;

  private constructor(options: StoreOptions & { clock: Clock }, store: HistoryStore) {
    this.#options = options;
    this.store = store;
    this.#time = new SteadyTime(options.clock);
    const now = options.clock.now();
    this.#syncAt = now + SYNC_MS;
    this.#packAt = now;
    const { at } = this.#time.read();
    this.#begunAt = at;
    this.#started = { now, wall: at };
    this.#setAt = at;
    this.#wasAway(at);
  }

  /** Opens the store. The time since its last sign of life is a gap. */
  static async open(options: StoreOptions & { clock: Clock }): Promise<HistoryRecorder> {
    return new HistoryRecorder(options, await HistoryStore.open(options, options.clock.wall()));
  }

  /**
   * Nothing is known since the last sign of life, until values come. One of a later day was given by a clock that was ahead, or this one
   * is behind: then nothing is known since the last one before now either.
   */
  #wasAway(at: number): void {
    const last = this.store.alive();
    // The clock went back, so the times from now to then come once more.
    if (last > at && last - at <= DAY_MS) this.store.addGap({ from: at, to: last, why: "bridge" });
    else
      for (const since of new Set([this.store.alive(at), last]))
        if (since > 0) this.store.addGap({ from: since, to: since, why: "bridge" });
  }

  /** Epoch ms of the steady time, by which values are kept. */
  now(): number {
    const { at, setBy } = this.#time.read();
    if (setBy !== 0) this.#clockSet(at, setBy);
    return at;
  }

  /** Readings of a device of which values came in this run. */
  readingsOf(device: string): readonly SeriesInfo[] {
    return this.#byDevice.get(device) ?? [];
  }

  /** A new value came. One that a broker, or a file, had kept is none. */
  came(info: SeriesInfo, raw: unknown): void {
    const value = keptValue(raw);
    const kept = value === undefined ? undefined : this.#keptOf(info);
    if (value === undefined) this.absent(info);
    if (value === undefined || !kept) return;
    const at = Math.max(this.now(), this.#notBefore);
    kept.isThere = true;
    if (!kept.keeper.offer({ at, value }, this.#isSparse(at))) return;
    this.store.add(kept.info, { at, value });
    this.#valuesToday += 1;
    if (typeof value !== "number") this.#syncSoon();
  }

  /** The device, or the value, is not available. */
  absent(name: SeriesName): void {
    const kept = this.#series.get(nameOf(name));
    if (!kept?.isThere) return;
    const at = Math.max(this.now(), this.#notBefore);
    kept.isThere = false;
    kept.keeper.reset();
    this.store.add(kept.info, { at, value: null });
    this.#syncSoon();
  }

  /** Forgets what was kept of a device until now. Its next value is kept, whatever it is. */
  async forget(device: string): Promise<void> {
    const at = this.now();
    for (const info of this.readingsOf(device)) this.#series.delete(nameOf(info));
    this.#byDevice.delete(device);
    await this.store.forget(device, at);
  }

  /** Values may come from now on. */
  begin(): void {
    if (this.#begunAt === undefined) return;
    const from = this.#begunAt;
    this.#begunAt = undefined;
    // Values of the second in which it begins come behind the gap.
    this.#notBefore = toTick(this.now()) + TICK_MS;
    this.#unknown({ from, to: this.#notBefore, why: "bridge" });
  }

  /** Call it every second. */
  async tick(): Promise<void> {
    if (this.#isStopped) return;
    const at = this.now();
    const now = this.#options.clock.now();
    if (now >= this.#syncAt) {
      this.#syncAt = now + SYNC_MS;
      if (this.#hasAny) await this.#sync(at);
    }
    if (now >= this.#packAt) {
      this.#packAt = now + PACK_MS;
      await this.store.pack(at);
    }
    if (now < this.#lookAt) return;
    this.#lookAt = now + LOOK_MS;
    for (const device of this.store.wanted()) await this.forget(device);
  }

  /** Writes what waits, and ends. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (this.#hasAny) await this.#sync(this.now());
    await this.store.close();
  }

  get #hasAny(): boolean {
    return this.#series.size > 0 || this.store.alive() > 0;
  }

  async #sync(at: number): Promise<void> {
    for (const { info, keeper } of this.#series.values()) {
      const skipped = keeper.flush(at);
      if (skipped) this.store.add(info, skipped);
      if (keeper.isCoarse) this.store.addCoarse(info);
    }
    await this.store.sync(Math.max(at, this.#notBefore));
  }

  #syncSoon(): void {
    this.#syncAt = Math.min(this.#syncAt, this.#options.clock.now() + STATE_SYNC_MS);
  }

  #keptOf(info: SeriesInfo): Kept | undefined {
    const name = nameOf(info);
    const known = this.#series.get(name);
    if (known) return known;
    if (this.#series.size >= SERIES_MAX) {
      if (!this.#isFull) this.#options.log("warn", "history.full", { readings: SERIES_MAX });
      this.#isFull = true;
      return undefined;
    }
    const kept = { info, keeper: new SeriesKeeper(info), isThere: false };
    this.#series.set(name, kept);
    this.#byDevice.set(info.device, [...this.readingsOf(info.device), info]);
    return kept;
  }

  #isSparse(at: number): boolean {
    if (dayOf(at) !== this.#day) {
      [this.#day, this.#valuesToday, this.#hasSaidSparse] = [dayOf(at), 0, false];
    }
    if (this.#valuesToday < VALUES_A_DAY_MAX) return false;
    if (!this.#hasSaidSparse) this.#options.log("warn", "history.sparse", { values: VALUES_A_DAY_MAX });
    this.#hasSaidSparse = true;
    return true;
  }

  /**
   * Nothing is known from there on until the next value comes. Where the clock is set back, what was said at times that come again is
   * not known: a clock that was years ahead leaves that one hour of then, and no gap until then. A machine without a clock of its own
   * starts with the time of its last end, so shortly after the start all times of this run were wrong.
   */
  #clockSet(at: number, by: number): void {
    const before = at - by;
    this.#notBefore = 0;
    this.#options.log("warn", "history.clock_set", { by_s: Math.round(by / 1_000) });
    const { now, wall } = this.#started;
    const isYoung = by > 0 && this.#options.clock.now() - now < YOUNG_MS;
    this.#started = { now, wall: wall + by };
    if (this.#begunAt !== undefined) this.#begunAt += by;
    const since = Math.max(at, this.#setAt);
    this.#setAt = at;
    if (by > 0) {
      this.#unknown({ from: isYoung ? wall : before, to: before, why: "clock" });
      return;
    }
    // Values of the second in which it is set come behind the gap.
    this.#notBefore = toTick(at) + TICK_MS;
    this.#unknown({ from: since, to: before, why: "clock" });
    if (since > at) this.#unknown({ from: at, to: at, why: "clock" });
  }

  #unknown(gap: Gap): void {
    if (!this.#hasAny) return;
    this.store.addGap(gap);
    for (const kept of this.#series.values()) {
      kept.isThere = false;
      kept.keeper.reset();
    }
    this.#syncSoon();
  }
}
