/** A small picture of few colours, as PNG: lines, areas and short texts. For charts no library is needed. */
import { crc32, deflateSync } from "node:zlib";

export const COLOURS = { paper: 0, ink: 1, grid: 2, unknown: 3, line: 4, area: 5 } as const;
export type Colour = (typeof COLOURS)[keyof typeof COLOURS];
/** Red, green and blue of each, in their order. */
const PALETTE = Buffer.from("ffffff1f2933e4e7ebcbd2d90b69a3f0b429", "hex");

/** Columns of 5 by 7 dots for the signs from the blank to `~`, the top dot in the lowest bit. Then the degree sign. */
const FONT = Buffer.from(
  "000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500008070300001c2241000041221c00" +
    "2a1c7f1c2a08083e080800807030000808080808000060600020100804023e5149453e00427f4000724949494621414" +
    "94d331814127f1027454545393c4a494931412111090736494949364649492" +
    "91e0000140000004034000000081422411414141414004122140802015909063e415d594e7c1211127c7f494949363e414141227f4141413e7f494949417f090909013e414151737f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e7f090909063e4151215e7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f63140814630304780403615949" +
    "4d43007f4141410204081020004141417f040201020440404040400003070800" +
    "20545478407f2844443838444444283844" +
    "44287f385454541800087e090218a4a49c787f0804047800447d40002040403d007f1028440000417f40007c047804787c0804047838444444" +
    "38fc1824241818242418fc7c08040408485454542404043f44243c4040207c1c2040201c3c4030403c44281028444c9090907c4464544c44" +
    "00083641000000770000004136080002010204020006090906",
  "hex",
);
const FIRST = 0x20;
const DOTS = { columns: 5, rows: 8 } as const;
/** Dots of the picture for one of the font. */
const SCALE = 2;
export const SIGN_WIDTH = (DOTS.columns + 1) * SCALE;
export const SIGN_HEIGHT = DOTS.rows * SCALE;

export class Picture {
  readonly width: number;
  readonly height: number;
  readonly #dots: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#dots = new Uint8Array(width * height);
  }

  area(left: number, top: number, right: number, bottom: number, colour: Colour): void {
    const [from, to] = [Math.max(0, Math.round(left)), Math.min(this.width, Math.round(right))];
    if (from >= to) return;
    for (let y = Math.max(0, Math.round(top)); y < Math.min(this.height, Math.round(bottom)); y += 1)
      this.#dots.fill(colour, y * this.width + from, y * this.width + to);
  }

  /** Two dots high. */
  line(fromX: number, fromY: number, toX: number, toY: number, colour: Colour): void {
    const steps = Math.max(1, Math.abs(toX - fromX), Math.abs(toY - fromY));
    for (let step = 0; step <= steps; step += 1) {
      const x = Math.round(fromX + ((toX - fromX) * step) / steps);
      const y = Math.round(fromY + ((toY - fromY) * step) / steps);
      this.#dot(x, y, colour);
      this.#dot(x, y + 1, colour);
    }
  }

  #dot(x: number, y: number, colour: Colour): void {
    if (x >= 0 && x < this.width && y >= 0 && y < this.height) this.#dots[y * this.width + x] = colour;
  }

  /** Signs that the font does not have are left out. */
  text(left: number, top: number, text: string, colour: Colour): void {
    for (const [nth, sign] of signsOf(text).entries())
      for (let column = 0; column < DOTS.columns; column += 1) {
        const dots = FONT[sign * DOTS.columns + column] ?? 0;
        for (let row = 0; row < DOTS.rows; row += 1) {
          if ((dots >> row) % 2 === 0) continue;
          const x = left + nth * SIGN_WIDTH + column * SCALE;
          this.area(x, top + row * SCALE, x + SCALE, top + (row + 1) * SCALE, colour);
        }
      }
  }

  png(): Buffer {
    const head = Buffer.alloc(13);
    head.writeUInt32BE(this.width, 0);
    head.writeUInt32BE(this.height, 4);
    // 8 bits a dot, with a palette.
    head.set([8, 3, 0, 0, 0], 8);
    const rows = Buffer.alloc((this.width + 1) * this.height);
    for (let y = 0; y < this.height; y += 1)
      rows.set(this.#dots.subarray(y * this.width, (y + 1) * this.width), y * (this.width + 1) + 1);
    return Buffer.concat([
      Buffer.from("89504e470d0a1a0a", "hex"),
      part("IHDR", head),
      part("PLTE", PALETTE),
      part("IDAT", deflateSync(rows)),
      part("IEND", Buffer.alloc(0)),
    ]);
  }
}

/** @returns the text as the font has it: letters without their marks */
function signsOf(text: string): number[] {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("−", "-").replaceAll("–", "-");
  return [...plain].flatMap((sign) => {
    const at = sign === "°" ? FONT.length / DOTS.columns - 1 : sign.charCodeAt(0) - FIRST;
    return at >= 0 && at < FONT.length / DOTS.columns ? [at] : [];
  });
}

export function textWidth(text: string): number {
  return signsOf(text).length * SIGN_WIDTH;
}

function part(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
