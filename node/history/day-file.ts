/**
 * The file of a past day (UTC). It is written once, whole: chunks of series, an index, and a tail that finds and checks it.
 *
 *   chunk…   | three parts, each deflated by itself: what its series are, their times, their values
 *   index    | the checksum of the log that was packed, until when the bridge was there, gaps, the chunks, and the hash of each series
 *   tail     | where the index begins, its length and checksum, the mark of the form
 *
 * Times are differences of ticks, and values differences of whole numbers, or places in a table. Series stand in the order of their
 * hashes, in which those of one kind stand together: they deflate best. One of them costs the index and one chunk.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import type { Gap, KeptValue, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { ByteReader, ByteWriter, fromWhole, scaleOf, toWhole } from "./bytes.ts";
import { readGap, readInfo, readValue, writeGap, writeInfo, writeValue } from "./records.ts";

/** Times are kept to a second. Finer ones do not compress. */
export const TICK_MS = 1_000;
export const DAY_MS = 86_400_000;

/** Of times, values and the rest, before they are deflated. */
const CHUNK_BYTES = 16 * 1024;
/** "EHD1" */
const MARK = 0x31_44_48_45;
const TAIL_BYTES = 16;
/** Of a chunk in the index: its first series, where it is, its checksum, and the bytes of its three parts, deflated and not. 32 bits each. */
const RECORD_BYTES = 36;
const HASH_BYTES = 3;
/** A series whose values are places in a table, and not whole numbers of so many decimals. */
const IN_TABLE = 255;
/** The least that zlib takes. */
const BUFFER_MIN = 64;

/** What a series is known by. */
export type SeriesName = Pick<SeriesInfo, "device" | "reading" | "unit">;
export type DaySeries = { info: SeriesInfo; samples: Sample[]; isCoarse: boolean };

/** @returns the day (days since 1970, UTC) of a time */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

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
    writeInfo(about, info);
    writeTimes(times, samples, this.#day);
    if (scale === undefined) writeTable(values, samples);
    else writeNumbers(values, samples, scale);
    const own = about.length + times.length + values.length;
    const before = this.#parts.reduce((sum, { length }) => sum + length, 0);
    if (this.#inChunk > 0 && before + own > CHUNK_BYTES) this.#endChunk();
    const [heads, allTimes, allValues] = this.#parts;
    heads.unsigned(about.length);
    heads.append(about.view());
    heads.byte(isCoarse ? 1 : 0);
    heads.unsigned(samples.length);
    heads.byte(scale ?? IN_TABLE);
    heads.unsigned(times.length);
    heads.unsigned(values.length);
    allTimes.append(times.view());
    allValues.append(values.view());
    const hash = seriesHash(info.device, info.reading);
    for (const shift of [16, 8, 0]) this.#hashes.byte((hash >> shift) & 0xff);
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
type Head = { about: Place; isCoarse: boolean; count: number; scale: number; times: Place; values: Place };
/** @property read @returns bytes of the file; fewer where it is shorter */
type FilePart = { size: number; read(at: number, length: number): Buffer; close(): void };

/** The tail and most indexes are read at once. */
const END_BYTES = 16 * 1024;

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
  readonly #hashes: Buffer;

  private constructor(day: number, file: FilePart) {
    this.day = day;
    this.#file = file;
    const from = new ByteReader(indexOf(file));
    this.source = from.fixed();
    this.alive = from.unsigned();
    this.gaps = Array.from({ length: from.unsigned() }, () => readGap(from));
    this.#chunks = from.slice(from.unsigned() * RECORD_BYTES);
    this.#hashes = from.rest();
  }

  /** Does something with a day's file. @throws an error that says what is wrong with the file */
  static use<T>(path: string, day: number, work: (file: DayFile) => T): T {
    const opened = openFile(path);
    try {
      return work(new DayFile(day, opened));
    } finally {
      opened.close();
    }
  }

  /** Of a file that is in memory. @throws an error that says what is wrong with it */
  static of(file: Buffer, day: number): DayFile {
    const read = (at: number, length: number) => file.subarray(at, at + length);
    return new DayFile(day, { size: file.length, read, close() {} });
  }

  /** @throws an error where the chunk is damaged */
  find(wanted: SeriesName): DaySeries | undefined {
    const hash = seriesHash(wanted.device, wanted.reading);
    for (let nth = this.#firstOf(hash); this.#hashOf(nth) === hash; nth += 1) {
      const { first, parts } = this.#chunkOf(nth);
      const heads = parts.heads();
      const head = headAt(heads, nth - first);
      if (!head) throw new Error("its index is damaged");
      const info = infoIn(heads, head);
      if (sameSeries(info, wanted))
        return { info, ...decodeSeries(head, parts.times(), parts.values(), this.day) };
    }
    return undefined;
  }

  /** All of them, in their order. @throws an error where a chunk is damaged */
  *all(): Generator<DaySeries> {
    for (let nth = 0; nth * RECORD_BYTES < this.#chunks.length; nth += 1) {
      const { parts } = this.#chunkAt(nth);
      const [heads, times, values] = [parts.heads(), parts.times(), parts.values()];
      for (const head of headsIn(heads))
        yield { info: infoIn(heads, head), ...decodeSeries(head, times, values, this.day) };
    }
  }

  #hashOf(nth: number): number | undefined {
    const at = nth * HASH_BYTES;
    return at < this.#hashes.length ? this.#hashes.readUIntBE(at, HASH_BYTES) : undefined;
  }

  /** @returns the place of the first series whose hash is not below */
  #firstOf(hash: number): number {
    let [low, high] = [0, this.#hashes.length / HASH_BYTES];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#hashOf(middle) ?? hash) < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The chunk of the series at this place. */
  #chunkOf(series: number): Chunk {
    let [low, high] = [0, this.#chunks.length / RECORD_BYTES];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#chunks.readUInt32LE(middle * RECORD_BYTES) <= series) low = middle;
      else high = middle;
    }
    return this.#chunkAt(low);
  }

  /** Each part is inflated when it is asked for. */
  #chunkAt(nth: number): Chunk {
    const field = (at: number) => this.#chunks.readUInt32LE(nth * RECORD_BYTES + at * 4);
    const [heads, times, values] = [field(3), field(5), field(7)];
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

function* headsIn(part: Buffer): Generator<Head, void> {
  const read = new ByteReader(part);
  let [timesAt, valuesAt] = [0, 0];
  while (!read.isAtEnd) {
    const bytes = read.unsigned();
    const about = { at: read.skip(bytes), bytes };
    const isCoarse = read.byte() === 1;
    const [count, scale] = [read.unsigned(), read.byte()];
    const times = { at: timesAt, bytes: read.unsigned() };
    const values = { at: valuesAt, bytes: read.unsigned() };
    timesAt += times.bytes;
    valuesAt += values.bytes;
    yield { about, isCoarse, count, scale, times, values };
  }
}

function headAt(heads: Buffer, place: number): Head | undefined {
  let nth = 0;
  for (const head of headsIn(heads)) {
    if (nth === place) return head;
    nth += 1;
  }
  return undefined;
}

function infoIn(heads: Buffer, { about }: Head): SeriesInfo {
  return readInfo(new ByteReader(heads, about.at));
}

function indexOf({ size, read }: FilePart): Buffer {
  const last = read(Math.max(0, size - END_BYTES), END_BYTES);
  const tail = last.subarray(-TAIL_BYTES);
  if (tail.length !== TAIL_BYTES || tail.readUInt32LE(12) !== MARK) throw new Error("it is no file of a day");
  const from = tail.readUInt32LE(0);
  const length = tail.readUInt32LE(4);
  if (from + length + TAIL_BYTES !== size) throw new Error("its index is damaged");
  const isInLast = length + TAIL_BYTES <= last.length;
  const index = isInLast ? last.subarray(last.length - TAIL_BYTES - length, -TAIL_BYTES) : read(from, length);
  if (crc32(index) !== tail.readUInt32LE(8)) throw new Error("its index is damaged");
  return index;
}

function openFile(path: string): FilePart {
  const file = openSync(path, "r");
  return {
    size: fstatSync(file).size,
    read(at, length) {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
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

function decodeSeries(head: Head, times: Buffer, values: Buffer, day: number): Omit<DaySeries, "info"> {
  const { isCoarse, count, scale } = head;
  const part = (bytes: Buffer, { at, bytes: length }: Place) =>
    new ByteReader(bytes.subarray(at, at + length));
  const ofTimes = part(times, head.times);
  const ofValues = part(values, head.values);
  const next = scale === IN_TABLE ? readTable(ofValues) : readNumbers(ofValues, scale);
  let last = day * DAY_MS;
  const samples: Sample[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    last += ofTimes.unsigned() * TICK_MS;
    samples.push({ at: last, value: next() });
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
  let last = 0;
  return () => {
    const coded = read.unsigned() - 1;
    if (coded < 0) return null;
    last += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    return fromWhole(last, scale);
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
