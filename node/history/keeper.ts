/**
 * Decides which values of a reading are kept: a change, at least once an hour a value that stays, and of a number that changes faster
 * than once a minute only what is worth it.
 */
import { isMoment, type KeptValue, type Sample, type SeriesInfo } from "@edgecall/core/history/sample.ts";
import { scaleOf } from "./bytes.ts";

const MINUTE_MS = 60_000;
/** A value that stays is kept so often, as a sign of life. */
const REPEAT_MS = 3_600_000;
/** Of a number, within a minute: a change of so much, and of so many of its own steps. */
const SHARE = 0.02;
const STEPS = 2;
const EPSILON = 1e-9;
/** More than so many values of a reading in a minute are not kept. */
const IN_A_MINUTE_MAX = 6;
/** Of a number, once the day has too many values. */
const SPARSE_MS = 600_000;

export class SeriesKeeper {
  readonly #isMoment: boolean;
  #last: Sample | undefined;
  /** The newest value that was not kept. It is, when time has gone by and nothing else came. */
  #skipped: Sample | undefined;
  /** The smallest step of its numbers: a power of ten. */
  #step = 1;
  #minute = 0;
  #inMinute = 0;
  #isCoarse = false;

  constructor(info: SeriesInfo) {
    this.#isMoment = isMoment(info);
  }

  /** Values were left out since the last look. */
  get isCoarse(): boolean {
    const was = this.#isCoarse;
    this.#isCoarse = false;
    return was;
  }

  /** @param isSparse the day has too many values @returns whether the value is to be kept */
  offer(sample: Sample, isSparse = false): boolean {
    const { at, value } = sample;
    if (typeof value === "number") this.#step = Math.min(this.#step, 10 ** -(scaleOf(value) ?? 6));
    const last = this.#last;
    if (!this.#isMoment && last?.value === value) {
      this.#skipped = undefined;
      return at - last.at >= REPEAT_MS && this.#keep(sample);
    }
    if (last && this.#isSmall(last, sample, isSparse)) {
      this.#skipped = sample;
      return false;
    }
    const minute = Math.floor(at / MINUTE_MS);
    if (minute !== this.#minute) [this.#minute, this.#inMinute] = [minute, 0];
    if (this.#inMinute >= IN_A_MINUTE_MAX) {
      this.#isCoarse = true;
      this.#skipped = this.#isMoment ? undefined : sample;
      return false;
    }
    this.#inMinute += 1;
    return this.#keep(sample);
  }

  /** @returns the last value that came, where it is another one than was kept, and time has gone by */
  flush(now: number): Sample | undefined {
    const skipped = this.#skipped;
    if (!skipped || now - (this.#last?.at ?? 0) < MINUTE_MS) return undefined;
    this.#keep(skipped);
    return skipped;
  }

  /** Nothing is known any more: the next value is kept, whatever it is. */
  reset(): void {
    this.#last = undefined;
    this.#skipped = undefined;
  }

  #keep(sample: Sample): true {
    this.#last = sample;
    this.#skipped = undefined;
    return true;
  }

  #isSmall(last: Sample, { at, value }: Sample, isSparse: boolean): boolean {
    if (typeof value !== "number" || typeof last.value !== "number") return false;
    const since = at - last.at;
    if (isSparse && since < SPARSE_MS) {
      this.#isCoarse = true;
      return true;
    }
    if (since >= MINUTE_MS) return false;
    const least = Math.max(SHARE * Math.abs(last.value), STEPS * this.#step);
    // 1.7 - 1.5 is a little less than 0.2.
    return Math.abs(value - last.value) < least * (1 - EPSILON);
  }
}

/** Characters of a text that is kept. States are short; a longer one is a stranger's words. */
const TEXT_MAX_CHARS = 60;

/** @returns undefined: it is no value that is kept */
export function keptValue(value: unknown): KeptValue | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : undefined;
  if (typeof value === "boolean") return value;
  return typeof value === "string" && value !== "" && value.length <= TEXT_MAX_CHARS ? value : undefined;
}
