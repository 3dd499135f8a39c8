/** A series' day in short (core/history/stretch.ts) as bytes: about 9 of one that did not change, and 20 to 40 of others. */
import type { KeptValue, Room, Sample, StateAbout, Stretch } from "@edgecall/core/history/sample.ts";
import { type ByteReader, type ByteWriter, fromWhole, toWhole } from "./bytes.ts";
import { readValue, writeValue } from "./records.ts";

/**
 * @property from when the day begins (epoch ms), until `to` @property tickMs all times are a whole number of these
 * @property scale decimals that its numbers have at most, where it has no other values
 */
export type ShortForm = { from: number; to: number; tickMs: number; scale: number | undefined };

const KINDS = ["", "numbers", "states", "moments"] as const;
/** The lowest two bits are one of the kinds, "" without a stretch. */
const KIND_BITS = 3;
const ABSENT = 4;
/** One value held from its beginning to its end. */
const EVEN = 8;
/** The sum is no whole number. */
const FLOAT = 16;
/** Numbers with rooms between them. */
const ROOMS = 32;
/** States have their hours where they are not known otherwise. */
const HOURS = 64;
/** Sums of whole numbers up to this are exact. */
const SUM_MAX = 2 ** 48;

/** Writes a day in short. */
export function writeShort(out: ByteWriter, short: readonly Sample[], form: ShortForm): void {
  const write = new ShortWriter(out, form);
  out.unsigned(short.length);
  for (const sample of short) write.sample(sample);
}

/** Reads what `writeShort` wrote. */
export function readShort(bytes: ByteReader, form: ShortForm): Sample[] {
  const read = new ShortReader(bytes, form);
  return Array.from({ length: bytes.unsigned() }, () => read.sample());
}

class ShortWriter {
  readonly #out: ByteWriter;
  readonly #form: ShortForm;
  readonly #values: KeptValue[] = [];
  #whole = 0;

  constructor(out: ByteWriter, form: ShortForm) {
    this.#out = out;
    this.#form = form;
  }

  sample({ at, value, stretch }: Sample): void {
    const sum = stretch && this.#wholeSum(stretch);
    const isEven = stretch?.spans === 1;
    this.#out.byte(
      KINDS.indexOf(stretch?.about.of ?? "") |
        (value === null ? ABSENT : 0) |
        (isEven ? EVEN : 0) |
        (stretch?.about.of === "numbers" && sum === undefined ? FLOAT : 0) |
        (stretch?.about.of === "numbers" && stretch.about.rooms ? ROOMS : 0) |
        (stretch?.about.of === "states" && !isEven ? HOURS : 0),
    );
    this.#ticks(this.#form.to - at);
    if (value !== null) this.#value(value);
    if (stretch) this.#stretch(stretch, isEven, sum);
  }

  #stretch({ from, to, first, end, endFrom, spans, about }: Stretch, isEven: boolean, sum?: number): void {
    const since = (at: number) => this.#ticks(at - from);
    this.#ticks(from - this.#form.from);
    this.#value(first);
    if (isEven) return;
    if (about.of === "moments") {
      this.#out.unsigned(about.values.length);
      for (const { value, count, last } of about.values) {
        this.#value(value);
        this.#out.unsigned(count);
        since(last);
      }
      return;
    }
    this.#out.unsigned(spans);
    this.#ticks(to - endFrom);
    this.#value(end);
    if (about.of === "numbers") {
      for (const { at, value } of [about.min, about.max]) {
        since(at);
        this.#value(value);
      }
      if (sum === undefined) this.#out.float(about.weighted);
      else this.#out.signed(sum);
      this.#out.byte(about.lifts === 0 ? 0 : 1);
      if (about.lifts !== 0) this.#out.float(about.lifts);
      if (about.rooms) this.#rooms(about.rooms, from, to);
      return;
    }
    since(about.firstTo);
    this.#out.unsigned(about.states.length);
    for (const state of about.states) this.#state(state, from, true);
  }

  #rooms(rooms: readonly Room[], from: number, to: number): void {
    this.#out.unsigned(rooms.length);
    for (const { low, high, line } of rooms) {
      this.#value(low);
      this.#value(high);
      this.#out.unsigned(line.spans);
      this.#ticks(to - line.endFrom);
      this.#value(line.end);
      this.#ticks(line.about.firstTo - from);
      for (const state of line.about.states) this.#state(state, from, false);
    }
  }

  #state({ value, count, ms, longest, last, hours }: StateAbout, since: number, hasHours: boolean): void {
    this.#value(value);
    this.#out.unsigned(longest && last ? count : 0);
    if (!longest || !last) return;
    this.#ticks(ms);
    this.#ticks(longest.from - since);
    this.#ticks(longest.to - longest.from);
    this.#ticks(last.from - longest.from);
    this.#ticks(last.to - last.from);
    if (hasHours && count > 1) for (const shift of [0, 8, 16]) this.#out.byte(((hours ?? 0) >> shift) & 0xff);
  }

  /** Of whole numbers by ticks, above that of the first one. */
  #wholeSum({ first, from, to, about }: Stretch): number | undefined {
    const { scale, tickMs } = this.#form;
    if (about.of !== "numbers" || scale === undefined) return undefined;
    const whole = Math.round((about.weighted * toWhole(1, scale)) / tickMs);
    const sum = whole - (toWhole(first as number, scale) * (to - from)) / tickMs;
    return Math.abs(whole) < SUM_MAX && Math.abs(sum) < SUM_MAX ? sum : undefined;
  }

  #ticks(ms: number): void {
    this.#out.unsigned(Math.round(ms / this.#form.tickMs));
  }

  #value(value: KeptValue): void {
    const { scale } = this.#form;
    if (scale !== undefined) {
      const whole = toWhole(value as number, scale);
      this.#out.signed(whole - this.#whole);
      this.#whole = whole;
      return;
    }
    const place = this.#values.indexOf(value);
    this.#out.unsigned(place + 1);
    if (place >= 0) return;
    this.#values.push(value);
    writeValue(this.#out, value);
  }
}

class ShortReader {
  readonly #in: ByteReader;
  readonly #form: ShortForm;
  readonly #values: KeptValue[] = [];
  #whole = 0;

  constructor(bytes: ByteReader, form: ShortForm) {
    this.#in = bytes;
    this.#form = form;
  }

  sample(): Sample {
    const flags = this.#in.byte();
    const at = this.#form.to - this.#ticks();
    const value = (flags & ABSENT) !== 0 ? null : this.#value();
    const kind = KINDS[flags & KIND_BITS];
    return kind ? { at, value, stretch: this.#stretch(kind, flags, at) } : { at, value };
  }

  #stretch(kind: Stretch["about"]["of"], flags: number, to: number): Stretch {
    const from = this.#form.from + this.#ticks();
    const first = this.#value();
    if ((flags & EVEN) !== 0) return evenStretch(kind, from, to, first);
    if (kind === "moments") {
      const values = this.#list(() => ({
        value: this.#value(),
        count: this.#in.unsigned(),
        last: from + this.#ticks(),
      }));
      return { from, to, first, end: first, endFrom: from, spans: 0, about: { of: kind, values } };
    }
    const spans = this.#in.unsigned();
    const endFrom = to - this.#ticks();
    const shared = { from, to, first, spans, endFrom, end: this.#value() };
    if (kind === "states") {
      const firstTo = from + this.#ticks();
      const hasHours = (flags & HOURS) !== 0;
      return {
        ...shared,
        about: { of: kind, firstTo, states: this.#list(() => this.#state(from, hasHours)) },
      };
    }
    const min = { at: from + this.#ticks(), value: this.#value() as number };
    const max = { at: from + this.#ticks(), value: this.#value() as number };
    const weighted = (flags & FLOAT) !== 0 ? this.#in.float() : this.#sum(first as number, to - from);
    const lifts = this.#in.byte() === 0 ? 0 : this.#in.float();
    const about = { of: kind, min, max, weighted, lifts };
    if ((flags & ROOMS) === 0) return { ...shared, about };
    return { ...shared, about: { ...about, rooms: this.#list(() => this.#room(from, to)) } };
  }

  #room(from: number, to: number): Room {
    const [low, high] = [this.#value() as number, this.#value() as number];
    const spans = this.#in.unsigned();
    const endFrom = to - this.#ticks();
    const end = this.#value();
    const firstTo = from + this.#ticks();
    const states = [this.#state(from, false), this.#state(from, false)];
    return { low, high, line: { end, spans, endFrom, about: { of: "states", firstTo, states } } };
  }

  #state(since: number, hasHours: boolean): StateAbout {
    const value = this.#value();
    const count = this.#in.unsigned();
    if (count === 0) return { value, count, ms: 0 };
    const ms = this.#ticks();
    const from = since + this.#ticks();
    const longest = { from, to: from + this.#ticks() };
    const begun = from + this.#ticks();
    const last = { from: begun, to: begun + this.#ticks() };
    const state = { value, count, ms, longest, last };
    if (!hasHours || count < 2) return state;
    return { ...state, hours: this.#in.byte() | (this.#in.byte() << 8) | (this.#in.byte() << 16) };
  }

  #sum(first: number, ms: number): number {
    const { scale = 0, tickMs } = this.#form;
    const whole = this.#in.signed() + (toWhole(first, scale) * ms) / tickMs;
    return fromWhole(whole * tickMs, scale);
  }

  #list<T>(one: () => T): T[] {
    return Array.from({ length: this.#in.unsigned() }, one);
  }

  #ticks(): number {
    return this.#in.unsigned() * this.#form.tickMs;
  }

  #value(): KeptValue {
    const { scale } = this.#form;
    if (scale !== undefined) {
      this.#whole += this.#in.signed();
      return fromWhole(this.#whole, scale);
    }
    const place = this.#in.unsigned();
    const value = place === 0 ? readValue(this.#in) : this.#values[place - 1];
    if (value === undefined) throw new RangeError("a day in short has no such value");
    if (place === 0) this.#values.push(value);
    return value;
  }
}

function evenStretch(kind: Stretch["about"]["of"], from: number, to: number, first: KeptValue): Stretch {
  const shared = { from, to, first, end: first, endFrom: from, spans: 1 };
  const one = { at: from, value: first as number };
  const weighted = (first as number) * (to - from);
  if (kind === "numbers") return { ...shared, about: { of: kind, min: one, max: one, weighted, lifts: 0 } };
  return {
    ...shared,
    about: { of: "states", firstTo: to, states: [{ value: first, count: 0, ms: 0 }] },
  };
}
