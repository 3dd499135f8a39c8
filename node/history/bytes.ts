/**
 * Writes and reads the history's bytes: whole numbers of variable length, texts, floats. A number below 240 is one byte, and one below
 * 2,288 two, of which the first is 240 to 247. A larger one, up to 2^53, is 247 and its count of bytes, and these, the lowest first.
 * So most differences of times and values are one byte, which deflates better than the halves of LEB128.
 */

const ONE_BYTE = 240;
const TWO_BYTES = ONE_BYTE + 8 * 256;
const COUNT = 247;
const COUNT_MAX = 7;
/** Zigzag doubles a number, which has to stay exact. */
const WHOLE_MAX = 2 ** 51;

export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param room bytes that it begins with; it grows */
  constructor(room = 1_024) {
    this.#bytes = Buffer.alloc(room);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#room(1);
    this.#push(value);
  }

  /** @param value a whole number from 0 to 2^53 */
  unsigned(value: number): void {
    this.#room(1 + COUNT_MAX);
    if (value < ONE_BYTE) this.#push(value);
    else if (value < TWO_BYTES) {
      this.#push(ONE_BYTE + Math.floor((value - ONE_BYTE) / 256));
      this.#push((value - ONE_BYTE) % 256);
    } else {
      const head = this.#length;
      this.#push(COUNT);
      for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) this.#push(rest % 256);
      this.#bytes[head] = COUNT + this.#length - head - 1;
    }
  }

  /** @param value a whole number of at most WHOLE_MAX, also below 0 */
  signed(value: number): void {
    this.unsigned(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  float(value: number): void {
    this.#room(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** 32 bits. */
  fixed(value: number): void {
    this.#room(4);
    this.#length = this.#bytes.writeUInt32LE(value >>> 0, this.#length);
  }

  text(value: string): void {
    const bytes = Buffer.from(value, "utf8");
    this.unsigned(bytes.length);
    this.append(bytes);
  }

  append(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** @returns a copy */
  done(): Buffer {
    return Buffer.from(this.view());
  }

  /** @returns the bytes until more is written */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Begins anew, in the same memory. */
  clear(): void {
    this.#length = 0;
  }

  #push(byte: number): void {
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** Each read throws RangeError where the bytes end. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new RangeError("the bytes end here");
    this.#at += 1;
    return value;
  }

  unsigned(): number {
    const first = this.#bytes[this.#at];
    if (first === undefined) throw new RangeError("the bytes end here");
    this.#at += 1;
    // Most are: a log has a million of them.
    return first < ONE_BYTE ? first : this.#longer(first);
  }

  #longer(first: number): number {
    if (first <= COUNT) return ONE_BYTE + (first - ONE_BYTE) * 256 + this.byte();
    if (first > COUNT + COUNT_MAX) throw new RangeError("no number is as long");
    let [value, factor] = [0, 1];
    for (let left = first - COUNT; left > 0; left -= 1) {
      value += this.byte() * factor;
      factor *= 256;
    }
    return value;
  }

  signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  float(): number {
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  fixed(): number {
    const value = uint32At(this.#bytes, this.#at);
    this.#at += 4;
    return value;
  }

  /** All that was not read yet. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  text(): string {
    return this.slice(this.unsigned()).toString("utf8");
  }

  /** Reads over bytes. @returns where they begin */
  skip(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#bytes.length) throw new RangeError("the bytes end here");
    this.#at += bytes;
    return at;
  }

  slice(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("the bytes end here");
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}

/** @returns a whole number of 32 bits, the lowest first. Buffer's own readers take five times as long without an optimizing compiler */
export function uint32At(bytes: Uint8Array, at: number): number {
  const high = bytes[at + 3];
  if (high === undefined) throw new RangeError("the bytes end here");
  return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)) + high * 2 ** 24;
}

/** Decimals that are tried: 21.64 is 2164 with two of them. */
const SCALE_MAX = 6;
const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6] as const;

/** @returns how many decimals a number has; undefined: more than are stored as a whole number */
export function scaleOf(value: number): number | undefined {
  for (let scale = 0; scale <= SCALE_MAX; scale += 1) {
    const whole = toWhole(value, scale);
    if (Math.abs(whole) > WHOLE_MAX) return undefined;
    if (fromWhole(whole, scale) === value) return scale;
  }
  return undefined;
}

/** A number as a whole one of its last decimal. @param scale decimals */
export function toWhole(value: number, scale: number): number {
  return Math.round(value * (POWERS[scale] ?? 1));
}

/** The division rounds to the number that the decimals mean. */
export function fromWhole(whole: number, scale: number): number {
  return whole / (POWERS[scale] ?? 1);
}
