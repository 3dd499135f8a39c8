/** The records of the log of a day, as bytes. A block of them begins with a time, from which their times count. */
import { GAP_CAUSES, type Gap, type KeptValue, type SeriesInfo } from "@edgecall/core/history/sample.ts";
import { ByteReader, ByteWriter, fromWhole, scaleOf, toWhole } from "./bytes.ts";

export type Entry =
  /** What a number of the log means. It stands before the first value of the series. */
  | { of: "series"; id: number; info: SeriesInfo }
  /** null: not available from here on. */
  | { of: "value"; id: number; at: number; value: KeptValue | null }
  /** Values of the series came faster than they are kept. */
  | { of: "coarse"; id: number }
  | { of: "gap"; gap: Gap }
  /** The bridge was there until then. */
  | { of: "alive"; at: number };

const TAG = {
  series: 0,
  absent: 1,
  false: 2,
  true: 3,
  text: 4,
  float: 5,
  coarse: 6,
  gap: 7,
  alive: 8,
  /** And the number of decimals. */
  number: 16,
} as const;

const FLOAT_BYTES = 8;

/** Encodes the entries of a block. @param base epoch ms, from which its times count */
export function encodeEntries(entries: readonly Entry[], base: number): Buffer {
  const out = new ByteWriter();
  out.unsigned(base);
  let last = base;
  const time = (at: number) => {
    out.signed(at - last);
    last = at;
  };
  for (const entry of entries) {
    switch (entry.of) {
      case "series":
        out.byte(TAG.series);
        out.unsigned(entry.id);
        writeInfo(out, entry.info);
        break;
      case "value": {
        const { id, at, value } = entry;
        const tag = tagWithScale(value);
        out.byte(tag);
        out.unsigned(id);
        time(at);
        writeContent(out, tag, value);
        break;
      }
      case "coarse":
        out.byte(TAG.coarse);
        out.unsigned(entry.id);
        break;
      case "gap":
        out.byte(TAG.gap);
        writeGap(out, entry.gap);
        break;
      case "alive":
        out.byte(TAG.alive);
        time(entry.at);
    }
  }
  return out.done();
}

/** @throws RangeError for bytes that are none */
export function decodeEntries(bytes: Buffer): Entry[] {
  const read = new ByteReader(bytes);
  let last = read.unsigned();
  const time = () => {
    last += read.signed();
    return last;
  };
  const entries: Entry[] = [];
  while (!read.isAtEnd) {
    const tag = read.byte();
    if (tag === TAG.series) {
      entries.push({ of: "series", id: read.unsigned(), info: readInfo(read) });
    } else if (tag === TAG.coarse) entries.push({ of: "coarse", id: read.unsigned() });
    else if (tag === TAG.gap) entries.push({ of: "gap", gap: readGap(read) });
    else if (tag === TAG.alive) entries.push({ of: "alive", at: time() });
    else entries.push({ of: "value", id: read.unsigned(), at: time(), value: taggedValue(tag, read) });
  }
  return entries;
}

/** The entries beside values: series, gaps, until when the program was there, what came too fast. */
export function decodeAbout(bytes: Buffer): Entry[] {
  const read = new ByteReader(bytes);
  let last = read.unsigned();
  const entries: Entry[] = [];
  while (!read.isAtEnd) {
    const tag = read.byte();
    if (tag === TAG.series) entries.push({ of: "series", id: read.unsigned(), info: readInfo(read) });
    else if (tag === TAG.coarse) entries.push({ of: "coarse", id: read.unsigned() });
    else if (tag === TAG.gap) entries.push({ of: "gap", gap: readGap(read) });
    else if (tag === TAG.alive) {
      last += read.signed();
      entries.push({ of: "alive", at: last });
    } else {
      read.unsigned();
      last += read.signed();
      skipValue(tag, read);
    }
  }
  return entries;
}

function skipValue(tag: number, read: ByteReader): void {
  if (tag >= TAG.number) read.unsigned();
  else if (tag === TAG.text) read.skip(read.unsigned());
  else if (tag === TAG.float) read.skip(FLOAT_BYTES);
  else if (tag > TAG.true) throw new RangeError(`no record has the tag ${tag}`);
}

/** A value by itself, and how much later than the one before. @param change in whole ticks */
export function writeSample(out: ByteWriter, change: number, value: KeptValue | null): void {
  const tag = tagWithScale(value);
  out.byte(tag);
  out.signed(change);
  writeContent(out, tag, value);
}

/** Reads what `writeSample` wrote. */
export function readSample(read: ByteReader): { change: number; value: KeptValue | null } {
  const tag = read.byte();
  return { change: read.signed(), value: taggedValue(tag, read) };
}

function tagWithScale(value: KeptValue | null): number {
  const scale = typeof value === "number" ? scaleOf(value) : undefined;
  return scale === undefined ? tagOf(value) : TAG.number + scale;
}

function writeContent(out: ByteWriter, tag: number, value: KeptValue | null): void {
  if (typeof value === "string") out.text(value);
  else if (typeof value === "number")
    if (tag === TAG.float) out.float(value);
    else out.signed(toWhole(value, tag - TAG.number));
}

function tagOf(value: KeptValue | null): number {
  if (value === null) return TAG.absent;
  if (typeof value === "boolean") return value ? TAG.true : TAG.false;
  return typeof value === "string" ? TAG.text : TAG.float;
}

function taggedValue(tag: number, read: ByteReader): KeptValue | null {
  if (tag >= TAG.number) return fromWhole(read.signed(), tag - TAG.number);
  if (tag === TAG.absent) return null;
  if (tag === TAG.true || tag === TAG.false) return tag === TAG.true;
  if (tag === TAG.text) return read.text();
  if (tag === TAG.float) return read.float();
  throw new RangeError(`no record has the tag ${tag}`);
}

/** Writes what a series is. */
export function writeInfo(out: ByteWriter, { device, reading, unit, class: of, kind }: SeriesInfo): void {
  for (const text of [device, reading, unit ?? "", of ?? "", kind]) out.text(text);
}

/** Reads what `writeInfo` wrote. */
export function readInfo(read: ByteReader): SeriesInfo {
  const [device, reading] = [read.text(), read.text()];
  const [unit, of, kind] = [read.text(), read.text(), read.text()];
  return { device, reading, ...(unit !== "" && { unit }), ...(of !== "" && { class: of }), kind };
}

/** Writes a time of which nothing is known. */
export function writeGap(out: ByteWriter, { from, to, why }: Gap): void {
  out.byte(GAP_CAUSES.indexOf(why));
  out.unsigned(from);
  out.signed(to - from);
}

/** Reads what `writeGap` wrote. @throws RangeError for a cause that there is not */
export function readGap(read: ByteReader): Gap {
  const why = GAP_CAUSES[read.byte()];
  if (why === undefined) throw new RangeError("a gap has no such cause");
  const from = read.unsigned();
  return { from, to: from + read.signed(), why };
}

/** Writes one value alone, for a table of them. */
export function writeValue(out: ByteWriter, value: KeptValue): void {
  out.byte(tagOf(value));
  if (typeof value === "string") out.text(value);
  else if (typeof value === "number") out.float(value);
}

/** Reads what `writeValue` wrote. @throws RangeError for a missing value */
export function readValue(read: ByteReader): KeptValue {
  const value = taggedValue(read.byte(), read);
  if (value === null) throw new RangeError("a table has no missing values");
  return value;
}
