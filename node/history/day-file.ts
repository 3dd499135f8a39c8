/**
 * The file of a past day (UTC). It is written once, whole: chunks of deflated series, an index, and a tail that finds and checks it.
 *
 *   chunk…   | a series: what it is, times as differences of ticks, then values as differences of whole numbers, or places in a table
 *   index    | the checksum of the log that was packed, until when the bridge was there, gaps, the chunks with their checksums, and for each series its hash and length
 *   tail     | where the index begins, its length and checksum, the mark of the form
 *
 * Series stand in the order of their hashes, so one of them costs the index and one chunk.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import type { Gap, KeptValue, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { ByteReader, ByteWriter, fromWhole, scaleOf, toWhole } from "./bytes.ts";
import { readGap, readInfo, readValue, writeGap, writeInfo, writeValue } from "./records.ts";

/** Times are kept to a second. Finer ones do not compress. */
export const TICK_MS = 1_000;
export const DAY_MS = 86_400_000;

const CHUNK_BYTES = 16 * 1024;
/** "EHD1" */
const MARK = 0x31_44_48_45;
const TAIL_BYTES = 16;
/** A series whose values are places in a table, and not whole numbers of so many decimals. */
const IN_TABLE = 255;

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

/** Of a reading whatever its unit: a unit that changed makes another series of the same hash. */
export function seriesHash(device: string, reading: string): number {
  return crc32(`${device}\0${reading}`);
}

export function sameSeries(a: SeriesName, b: SeriesName): boolean {
  return a.device === b.device && a.reading === b.reading && a.unit === b.unit;
}

/** Puts a day together, in whose file series come in the order of their hashes. */
export class DayFileMaker {
  readonly #day: number;
  readonly #chunks: Buffer[] = [];
  readonly #index = new ByteWriter();
  #chunk = new ByteWriter();
  #count = 0;
  #lengths: { bytes: number; raw: number; crc: number }[] = [];

  constructor(day: number) {
    this.#day = day;
  }

  /** @param series its samples in the order of their times; one without any is left out */
  add(series: DaySeries): void {
    if (series.samples.length === 0) return;
    const blob = encodeSeries(series, this.#day);
    const isFull = this.#chunk.length > 0 && this.#chunk.length + blob.length > CHUNK_BYTES;
    if (isFull) this.#endChunk();
    this.#index.fixed(seriesHash(series.info.device, series.info.reading));
    // With the first series of a chunk: one more than its length would be ambiguous, so the flag is the lowest bit.
    this.#index.unsigned(blob.length * 2 + (this.#chunk.length === 0 ? 1 : 0));
    this.#chunk.append(blob);
    this.#count += 1;
  }

  /** @param alive until when the bridge was there on this day @param source the checksum of the log that was packed */
  done({ gaps, alive, source }: DayFacts): Buffer {
    if (this.#chunk.length > 0) this.#endChunk();
    const out = new ByteWriter();
    out.fixed(source);
    out.unsigned(alive);
    out.unsigned(gaps.length);
    for (const gap of gaps) writeGap(out, gap);
    out.unsigned(this.#lengths.length);
    for (const { bytes, raw, crc } of this.#lengths) {
      out.unsigned(bytes);
      out.unsigned(raw);
      out.fixed(crc);
    }
    out.unsigned(this.#count);
    out.append(this.#index.done());
    const index = out.done();
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeUInt32LE(
      this.#chunks.reduce((sum, { length }) => sum + length, 0),
      0,
    );
    tail.writeUInt32LE(index.length, 4);
    tail.writeUInt32LE(crc32(index), 8);
    tail.writeUInt32LE(MARK, 12);
    return Buffer.concat([...this.#chunks, index, tail]);
  }

  #endChunk(): void {
    const raw = this.#chunk.done();
    const deflated = deflateRawSync(raw);
    this.#chunks.push(deflated);
    this.#lengths.push({ bytes: deflated.length, raw: raw.length, crc: crc32(deflated) });
    this.#chunk = new ByteWriter();
  }
}

type DayFacts = { gaps: readonly Gap[]; alive: number; source: number };
type Chunk = { at: number; bytes: number; raw: number; crc: number };
type Place = { chunk: number; at: number; bytes: number };
/** @property read @returns bytes of the file; fewer where it is shorter */
type FilePart = { size: number; read(at: number, length: number): Buffer; close(): void };

/** The tail and most indexes are read at once. */
const END_BYTES = 32 * 1024;

/** Reads a day's file: its index, and of the rest what is asked for. Close it. */
export class DayFile {
  readonly day: number;
  readonly gaps: readonly Gap[];
  readonly alive: number;
  /** The checksum of the log that was packed last: one that is there still has nothing new. */
  readonly source: number;
  readonly #file: FilePart;
  readonly #chunks: readonly Chunk[];
  readonly #places: Buffer;
  /** The last chunk that was read: all series of a day come one after the other. */
  #last: { chunk: number; raw: Buffer } | undefined;

  private constructor(day: number, file: FilePart) {
    this.day = day;
    this.#file = file;
    const from = new ByteReader(indexOf(file));
    this.source = from.fixed();
    this.alive = from.unsigned();
    this.gaps = Array.from({ length: from.unsigned() }, () => readGap(from));
    let at = 0;
    this.#chunks = Array.from({ length: from.unsigned() }, () => {
      const chunk = { at, bytes: from.unsigned(), raw: from.unsigned(), crc: from.fixed() };
      at += chunk.bytes;
      return chunk;
    });
    this.#places = from.rest();
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
    const read = new ByteReader(this.#places);
    let [chunk, end] = [-1, 0];
    for (let left = read.unsigned(); left > 0; left -= 1) {
      const own = read.fixed();
      const length = read.unsigned();
      const bytes = Math.floor(length / 2);
      if (length % 2 === 1) [chunk, end] = [chunk + 1, 0];
      if (own > hash) break;
      const series = own === hash ? this.#series({ chunk, at: end, bytes }) : undefined;
      if (series && sameSeries(series.info, wanted)) return series;
      end += bytes;
    }
    return undefined;
  }

  /** All of them, in their order. @throws an error where a chunk is damaged */
  *all(): Generator<DaySeries> {
    const read = new ByteReader(this.#places);
    let [chunk, end] = [-1, 0];
    for (let left = read.unsigned(); left > 0; left -= 1) {
      read.fixed();
      const length = read.unsigned();
      const bytes = Math.floor(length / 2);
      if (length % 2 === 1) [chunk, end] = [chunk + 1, 0];
      yield this.#series({ chunk, at: end, bytes });
      end += bytes;
    }
  }

  #series({ chunk, at, bytes }: Place): DaySeries {
    return decodeSeries(this.#raw(chunk).subarray(at, at + bytes), this.day);
  }

  #raw(chunk: number): Buffer {
    if (this.#last?.chunk === chunk) return this.#last.raw;
    const found = this.#chunks[chunk];
    const deflated = found && this.#file.read(found.at, found.bytes);
    if (!deflated || crc32(deflated) !== found.crc) throw new Error("a part of it is damaged");
    const raw = inflateRawSync(deflated, { maxOutputLength: found.raw });
    this.#last = { chunk, raw };
    return raw;
  }
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
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    },
    close: () => closeSync(file),
  };
}

function encodeSeries({ info, samples, isCoarse }: DaySeries, day: number): Buffer {
  const out = new ByteWriter();
  writeInfo(out, info);
  out.byte(isCoarse ? 1 : 0);
  out.unsigned(samples.length);
  const scale = commonScale(samples);
  out.byte(scale ?? IN_TABLE);
  let last = day * DAY_MS;
  for (const { at } of samples) {
    out.signed(Math.round((at - last) / TICK_MS));
    last = at;
  }
  if (scale === undefined) writeTable(out, samples);
  else writeNumbers(out, samples, scale);
  return out.done();
}

function decodeSeries(bytes: Buffer, day: number): DaySeries {
  const read = new ByteReader(bytes);
  const info = readInfo(read);
  const isCoarse = read.byte() === 1;
  const count = read.unsigned();
  const scale = read.byte();
  let last = day * DAY_MS;
  const times = Array.from({ length: count }, () => {
    last += read.signed() * TICK_MS;
    return last;
  });
  const next = scale === IN_TABLE ? readTable(read) : readNumbers(read, scale);
  return { info, isCoarse, samples: times.map((at) => ({ at, value: next() })) };
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
