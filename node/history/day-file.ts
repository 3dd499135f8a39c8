/**
 * The file of a past day (UTC). It is written once, whole: chunks of series, an index, and a tail that finds and checks it.
 *
 *   chunk…   | three parts, each deflated by itself: what its series are with their day in short, their times, their values
 *   index    | the checksum of the log that was packed, until when the bridge was there, gaps, the chunks, and of each series its
 *            | hash and where it stands among what the series are
 *   tail     | where the index begins, its length and checksum, the mark of the form
 *
 * Times are differences of ticks, and values differences of whole numbers, or places in a table. Series stand in the order of their
 * hashes, in which those of one kind stand together: they deflate best. One of them costs the index and one chunk, and of it the
 * first part alone where its day in short is enough. Files of the first form have no day in short.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import {
  type Gap,
  isMoment,
  type KeptValue,
  type Sample,
  type SeriesInfo,
  type SideOf,
} from "@edgecall/core/history/sample.ts";
import { inShort } from "@edgecall/core/history/stretch.ts";
import { ByteReader, ByteWriter, scaleOf, toWhole, uint32At } from "./bytes.ts";
import { readGap, readInfo, readValue, writeGap, writeInfo, writeValue } from "./records.ts";
import { readShort, type ShortForm, writeShort } from "./short-bytes.ts";

/** Times are kept to a second. Finer ones do not compress. */
export const TICK_MS = 1_000;
export const DAY_MS = 86_400_000;

/** Of times, values and the rest, before they are deflated. */
const CHUNK_BYTES = 16 * 1024;
/** "EHD2" */
const MARK = 0x32_44_48_45;
/** "EHD1" */
const FIRST_MARK = 0x31_44_48_45;
const TAIL_BYTES = 16;
/** Of a chunk in the index: its first series, where it is, its checksum, and the bytes of its three parts, deflated and not. 32 bits each. */
const RECORD_BYTES = 36;
const HASH_BYTES = 3;
/** Of a series in the index: its hash, and where it is in its part. */
const SERIES_BYTES = HASH_BYTES + 2;
/** A series whose values are places in a table, and not whole numbers of so many decimals. */
const IN_TABLE = 255;
/** So many values of a day on alternate sides of what is asked are longer than what they say in short. */
const MANY = 12;
/** The least that zlib takes. */
const BUFFER_MIN = 64;

/** The names by which a series is known. */
export type SeriesName = Pick<SeriesInfo, "device" | "reading" | "unit">;
export type DaySeries = { info: SeriesInfo; samples: Sample[]; isCoarse: boolean };

/** @returns the day (days since 1970, UTC) of a time */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** @returns the whole second in which a time is, epoch ms */
export function toTick(at: number): number {
  return Math.floor(at / TICK_MS) * TICK_MS;
}

/**
 * Of a reading whatever its unit: a unit that changed makes another series of the same hash. 10 bits are of the reading and 14 of the
 * device, so readings of one name stand together.
 */
export function seriesHash(device: string, reading: string): number {
  return ((crc32(reading) & 0x3ff) << 14) | (crc32(device) & 0x3fff);
}

/** Tells whether two names are of one series. */
export function sameSeries(a: SeriesName, b: SeriesName): boolean {
  return a.device === b.device && a.reading === b.reading && a.unit === b.unit;
}

/** Puts a day together. Its series come in the order of their hashes. */
export class DayFileMaker {
  readonly #day: number;
  readonly #chunks: Buffer[] = [];
  readonly #table = new ByteWriter();
  readonly #hashes = new ByteWriter();
  readonly #parts = newParts();
  /** Of the series that is added. */
  readonly #own = newParts();
  readonly #short = new ByteWriter();
  #inChunk = 0;
  #series = 0;
  #bytes = 0;

  constructor(day: number) {
    this.#day = day;
  }

  /** @param series its samples in the order of their times; one without any is left out */
  add({ info, samples, isCoarse }: DaySeries): void {
    if (samples.length === 0) return;
    const scale = commonScale(samples);
    const [about, times, values] = this.#own;
    for (const part of this.#own) part.clear();
    this.#short.clear();
    const short = inShort(samples, isMoment(info));
    if (short) writeShort(this.#short, short, shortForm(this.#day, scale));
    writeInfo(about, info);
    writeTimes(times, samples, this.#day);
    if (scale === undefined) writeTable(values, samples);
    else writeNumbers(values, samples, scale);
    const own = about.length + this.#short.length + times.length + values.length;
    const before = this.#parts.reduce((sum, { length }) => sum + length, 0);
    if (this.#inChunk > 0 && before + own > CHUNK_BYTES) this.#endChunk();
    const [heads, allTimes, allValues] = this.#parts;
    const hash = seriesHash(info.device, info.reading);
    for (const shift of [16, 8, 0]) this.#hashes.byte((hash >> shift) & 0xff);
    for (const shift of [8, 0]) this.#hashes.byte((heads.length >> shift) & 0xff);
    heads.unsigned(about.length);
    heads.append(about.view());
    heads.byte(isCoarse ? 1 : 0);
    heads.unsigned(samples.length);
    heads.byte(scale ?? IN_TABLE);
    heads.unsigned(times.length);
    heads.unsigned(values.length);
    heads.unsigned(this.#short.length);
    heads.append(this.#short.view());
    allTimes.append(times.view());
    allValues.append(values.view());
    this.#inChunk += 1;
  }

  /** @param alive until when the bridge was there on this day @param source the checksum of the log that was packed */
  done({ gaps, alive, source }: DayFacts): Buffer {
    if (this.#inChunk > 0) this.#endChunk();
    const out = new ByteWriter();
    out.fixed(source);
    out.unsigned(alive);
    out.unsigned(gaps.length);
    for (const gap of gaps) writeGap(out, gap);
    out.unsigned(this.#chunks.length);
    out.append(this.#table.done());
    out.append(this.#hashes.done());
    const index = out.done();
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeUInt32LE(this.#bytes, 0);
    tail.writeUInt32LE(index.length, 4);
    tail.writeUInt32LE(crc32(index), 8);
    tail.writeUInt32LE(MARK, 12);
    return Buffer.concat([...this.#chunks, index, tail]);
  }

  #endChunk(): void {
    const raw = this.#parts.map((part) => part.view());
    const deflated = raw.map((part) => deflateRawSync(part, { level: 9 }));
    const chunk = Buffer.concat(deflated);
    this.#chunks.push(chunk);
    for (const number of [this.#series, this.#bytes, crc32(chunk)]) this.#table.fixed(number);
    for (const [nth, { length }] of deflated.entries()) {
      this.#table.fixed(length);
      this.#table.fixed(raw[nth]?.length ?? 0);
    }
    this.#series += this.#inChunk;
    this.#bytes += chunk.length;
    for (const part of this.#parts) part.clear();
    this.#inChunk = 0;
  }
}

/** What the series of a chunk are, their times, and their values. */
function newParts(): [heads: ByteWriter, times: ByteWriter, values: ByteWriter] {
  return [new ByteWriter(), new ByteWriter(), new ByteWriter()];
}

type DayFacts = { gaps: readonly Gap[]; alive: number; source: number };
/** @property first the place of its first series in the file */
type Chunk = { first: number; parts: Record<"heads" | "times" | "values", () => Buffer> };
type Place = { at: number; bytes: number };
/** A series in a chunk: where its texts, times and values are in their parts. */
type Head = {
  about: Place;
  isCoarse: boolean;
  count: number;
  scale: number;
  times: Place;
  values: Place;
  short: Place | undefined;
};
/** @property read @returns bytes of the file; fewer where it is shorter */
type FilePart = { size: number; read(at: number, length: number): Buffer; close(): void };

/** One file after the other is read into this: a question about a year reads 400, and new memory for each costs more than reading. */
const READ_BYTES = 64 * 1024;
const shared = Buffer.alloc(READ_BYTES);
/** The tail and most indexes are read at once. */
const END_BYTES = 24 * 1024;

/** Reads a day's file: its index, and of the rest what is asked for. Close it. */
export class DayFile {
  readonly day: number;
  readonly gaps: readonly Gap[];
  readonly alive: number;
  /** The checksum of the log that was packed last: one that is there still has nothing new. */
  readonly source: number;
  readonly #file: FilePart;
  /** A record of each chunk. */
  readonly #chunks: Buffer;
  /** A record of each series. */
  readonly #series: Buffer;
  readonly #seriesBytes: number;

  private constructor(day: number, file: FilePart) {
    this.day = day;
    this.#file = file;
    const { index, isFirst } = indexOf(file);
    this.#seriesBytes = isFirst ? HASH_BYTES : SERIES_BYTES;
    const from = new ByteReader(index);
    this.source = from.fixed();
    this.alive = from.unsigned();
    this.gaps = Array.from({ length: from.unsigned() }, () => readGap(from));
    this.#chunks = from.slice(from.unsigned() * RECORD_BYTES);
    this.#series = from.rest();
  }

  /** Does something with a day's file, which is read no more afterwards. @throws an error that says what is wrong with the file */
  static use<T>(path: string, day: number, work: (file: DayFile) => T): T {
    const opened = openFile(path);
    try {
      return work(new DayFile(day, opened));
    } finally {
      opened.close();
    }
  }

  /** Reads a file that is in memory. @throws an error that says what is wrong with it */
  static of(file: Buffer, day: number): DayFile {
    const read = (at: number, length: number) => file.subarray(at, at + length);
    return new DayFile(day, { size: file.length, read, close() {} });
  }

  /**
   * @param shorten `isEnough`: whether the day in short, with its stretches, is what is needed: then it is what is returned.
   * `sideOf`: of values after each other on one side, those behind the first one are left out
   * @throws an error where the chunk is damaged
   */
  find(
    wanted: SeriesName,
    {
      isEnough,
      sideOf,
    }: { isEnough?: (short: readonly Sample[]) => boolean; sideOf?: SideOf | undefined } = {},
  ): DaySeries | undefined {
    const hash = seriesHash(wanted.device, wanted.reading);
    for (let nth = this.#firstOf(hash); this.#hashOf(nth) === hash; nth += 1) {
      const { first, parts } = this.#chunkOf(nth);
      const heads = parts.heads();
      const at = this.#placeOf(nth);
      const begun = at === undefined ? headAt(heads, nth - first, this.#isFirst) : headFrom(heads, at);
      if (!begun) throw new Error("its index is damaged");
      const info = infoIn(heads, begun);
      if (!sameSeries(info, wanted)) continue;
      const short = isEnough && shortIn(heads, begun, this.day);
      if (short && isEnough(short)) return { info, isCoarse: begun.isCoarse, samples: short };
      const head = headAt(heads, nth - first, this.#isFirst);
      if (!head) throw new Error("its index is damaged");
      const whole = decodeSeries(head, parts.times(), parts.values(), this.day, sideOf);
      if (!isEnough || !sideOf || whole.samples.length < MANY || isMoment(info)) return { info, ...whole };
      const crossings = inShort(whole.samples, false, sideOf);
      return { info, ...whole, ...(crossings && isEnough(crossings) && { samples: crossings }) };
    }
    return undefined;
  }

  /** All of them, in their order. @throws an error where a chunk is damaged */
  *all(): Generator<DaySeries> {
    for (let nth = 0; nth * RECORD_BYTES < this.#chunks.length; nth += 1) {
      const { parts } = this.#chunkAt(nth);
      const [heads, times, values] = [parts.heads(), parts.times(), parts.values()];
      for (const head of headsIn(heads, this.#isFirst))
        yield { info: infoIn(heads, head), ...decodeSeries(head, times, values, this.day) };
    }
  }

  get #isFirst(): boolean {
    return this.#seriesBytes === HASH_BYTES;
  }

  #hashOf(nth: number): number | undefined {
    const at = nth * this.#seriesBytes;
    const all = this.#series;
    const last = all[at + HASH_BYTES - 1];
    return last === undefined ? undefined : ((all[at] ?? 0) << 16) | ((all[at + 1] ?? 0) << 8) | last;
  }

  /** @returns where the series is in the first part of its chunk; undefined: the file does not say it */
  #placeOf(nth: number): number | undefined {
    return this.#isFirst ? undefined : this.#series.readUInt16BE(nth * SERIES_BYTES + HASH_BYTES);
  }

  /** @returns the place of the first series whose hash is not below */
  #firstOf(hash: number): number {
    let low = 0;
    let high = this.#series.length / this.#seriesBytes;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#hashOf(middle) ?? hash) < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The chunk of the series at this place. */
  #chunkOf(series: number): Chunk {
    let low = 0;
    let high = this.#chunks.length / RECORD_BYTES;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (uint32At(this.#chunks, middle * RECORD_BYTES) <= series) low = middle;
      else high = middle;
    }
    return this.#chunkAt(low);
  }

  /** Each part is inflated when it is asked for. */
  #chunkAt(nth: number): Chunk {
    const field = (at: number) => uint32At(this.#chunks, nth * RECORD_BYTES + at * 4);
    const heads = field(3);
    const times = field(5);
    const values = field(7);
    const bytes = this.#file.read(field(1), heads + times + values);
    if (crc32(bytes) !== field(2)) throw new Error("a part of it is damaged");
    const part = (from: number, length: number, raw: number) => () =>
      inflated(bytes.subarray(from, from + length), raw);
    return {
      first: field(0),
      parts: {
        heads: part(0, heads, field(4)),
        times: part(heads, times, field(6)),
        values: part(heads + times, values, field(8)),
      },
    };
  }
}

function inflated(deflated: Buffer, raw: number): Buffer {
  // With one byte more zlib sees the end at once.
  const chunkSize = Math.max(BUFFER_MIN, raw + 1);
  return inflateRawSync(deflated, { maxOutputLength: chunkSize, chunkSize });
}

function* headsIn(part: Buffer, isFirst: boolean): Generator<Head, void> {
  const read = new ByteReader(part);
  let [timesAt, valuesAt] = [0, 0];
  while (!read.isAtEnd) {
    const head = readHead(read, timesAt, valuesAt, isFirst);
    timesAt += head.times.bytes;
    valuesAt += head.values.bytes;
    yield head;
  }
}

function readHead(read: ByteReader, timesAt: number, valuesAt: number, isFirst: boolean): Head {
  const bytes = read.unsigned();
  const about = { at: read.skip(bytes), bytes };
  const isCoarse = read.byte() === 1;
  const [count, scale] = [read.unsigned(), read.byte()];
  const times = { at: timesAt, bytes: read.unsigned() };
  const values = { at: valuesAt, bytes: read.unsigned() };
  const inShort = isFirst ? 0 : read.unsigned();
  const short = inShort === 0 ? undefined : { at: read.skip(inShort), bytes: inShort };
  return { about, isCoarse, count, scale, times, values, short };
}

/** Where its times and values are is not known from it alone. */
function headFrom(heads: Buffer, at: number): Omit<Head, "times" | "values"> {
  return readHead(new ByteReader(heads, at), 0, 0, false);
}

function headAt(heads: Buffer, place: number, isFirst: boolean): Head | undefined {
  let nth = 0;
  for (const head of headsIn(heads, isFirst)) {
    if (nth === place) return head;
    nth += 1;
  }
  return undefined;
}

function infoIn(heads: Buffer, { about }: Pick<Head, "about">): SeriesInfo {
  return readInfo(new ByteReader(heads, about.at));
}

function shortIn(heads: Buffer, { short, scale }: Pick<Head, "short" | "scale">, day: number) {
  const form = shortForm(day, scale === IN_TABLE ? undefined : scale);
  return short && readShort(new ByteReader(heads, short.at), form);
}

function shortForm(day: number, scale: number | undefined): ShortForm {
  return { from: day * DAY_MS, to: (day + 1) * DAY_MS, tickMs: TICK_MS, scale };
}

function indexOf({ size, read }: FilePart): { index: Buffer; isFirst: boolean } {
  const last = read(Math.max(0, size - END_BYTES), END_BYTES);
  const tail = last.subarray(-TAIL_BYTES);
  const mark = tail.length === TAIL_BYTES ? uint32At(tail, 12) : 0;
  if (mark !== MARK && mark !== FIRST_MARK) throw new Error("it is no file of a day");
  const from = uint32At(tail, 0);
  const length = uint32At(tail, 4);
  if (from + length + TAIL_BYTES !== size) throw new Error("its index is damaged");
  const isInLast = length + TAIL_BYTES <= last.length;
  const index = isInLast ? last.subarray(last.length - TAIL_BYTES - length, -TAIL_BYTES) : read(from, length);
  if (crc32(index) !== uint32At(tail, 8)) throw new Error("its index is damaged");
  return { index, isFirst: mark === FIRST_MARK };
}

function openFile(path: string): FilePart {
  const file = openSync(path, "r");
  let used = 0;
  return {
    size: fstatSync(file).size,
    read(at, length) {
      const isFree = used + length <= READ_BYTES;
      const bytes = isFree ? shared : Buffer.allocUnsafe(length);
      const begin = isFree ? used : 0;
      if (isFree) used += length;
      return bytes.subarray(begin, begin + readSync(file, bytes, begin, length, at));
    },
    close: () => closeSync(file),
  };
}

function writeTimes(out: ByteWriter, samples: readonly Sample[], day: number): void {
  let last = day * DAY_MS;
  for (const { at } of samples) {
    out.unsigned(Math.round((at - last) / TICK_MS));
    last = at;
  }
}

function decodeSeries(
  head: Head,
  times: Buffer,
  values: Buffer,
  day: number,
  sideOf?: SideOf,
): Omit<DaySeries, "info"> {
  const { isCoarse, count, scale } = head;
  const part = (bytes: Buffer, { at, bytes: length }: Place) =>
    new ByteReader(bytes.subarray(at, at + length));
  const ofTimes = part(times, head.times);
  const ofValues = part(values, head.values);
  const next = scale === IN_TABLE ? readTable(ofValues) : readNumbers(ofValues, scale);
  let last = day * DAY_MS;
  const samples: Sample[] = [];
  let before: boolean | undefined;
  for (let nth = 0; nth < count; nth += 1) {
    last += ofTimes.unsigned() * TICK_MS;
    const value = next();
    const side = sideOf && value !== null ? sideOf(value) : undefined;
    if (side === undefined || side !== before) samples.push({ at: last, value });
    before = side;
  }
  return { isCoarse, samples };
}

/** @returns the decimals that all values have at most; undefined: one of them is no such number */
function commonScale(samples: readonly Sample[]): number | undefined {
  let most = 0;
  let largest = 0;
  for (const { value } of samples) {
    if (value === null) continue;
    const scale = typeof value === "number" ? scaleOf(value) : undefined;
    if (scale === undefined) return undefined;
    most = Math.max(most, scale);
    largest = Math.max(largest, Math.abs(value as number));
  }
  // A large number beside one with many decimals would not be exact.
  return largest * 10 ** most > 2 ** 50 ? undefined : most;
}

/** 0 is a missing value, and differences that are 0 or more begin at 1. */
function writeNumbers(out: ByteWriter, samples: readonly Sample[], scale: number): void {
  let last = 0;
  for (const { value } of samples) {
    if (value === null) {
      out.unsigned(0);
      continue;
    }
    const whole = toWhole(value as number, scale);
    const change = whole - last;
    out.unsigned(1 + (change >= 0 ? change * 2 : -change * 2 - 1));
    last = whole;
  }
}

function readNumbers(read: ByteReader, scale: number): () => KeptValue | null {
  const power = toWhole(1, scale);
  let last = 0;
  return () => {
    const coded = read.unsigned() - 1;
    if (coded < 0) return null;
    last += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    return last / power;
  };
}

function writeTable(out: ByteWriter, samples: readonly Sample[]): void {
  const values = [...new Set(samples.map(({ value }) => value))].filter((value) => value !== null);
  out.unsigned(values.length);
  for (const value of values) writeValue(out, value);
  const places = new Map<KeptValue | null, number>(values.map((value, at) => [value, at + 1]));
  for (const { value } of samples) out.unsigned(places.get(value) ?? 0);
}

function readTable(read: ByteReader): () => KeptValue | null {
  const values = Array.from({ length: read.unsigned() }, () => readValue(read));
  return () => {
    const place = read.unsigned();
    const value = place === 0 ? null : values[place - 1];
    if (value === undefined) throw new Error("a part of it is damaged");
    return value;
  };
}
