/** Draws the console's icon as PNG, for what does not take icon.svg: the home screens of iOS and of older phones. */
import { crc32, deflateSync } from "node:zlib";

/** By name: the width in px, and whether it fills its corners, which iOS rounds by itself and would show black. */
const ICONS = {
  "icon-192.png": { width: 192, fills: false },
  "icon-512.png": { width: 512, fills: false },
  "icon-180.png": { width: 180, fills: true },
} as const;

export const ICON_NAMES: readonly string[] = Object.keys(ICONS);

/** @param svg of the icon: a ground, a dot and arcs, as `shapesOf` reads them @throws when it has another form */
export function drawIcons(svg: string): Record<string, Uint8Array> {
  const shapes = shapesOf(svg);
  return Object.fromEntries(
    Object.entries(ICONS).map(([name, { width, fills }]) => [name, draw(shapes, width, fills)]),
  );
}

type Point = { x: number; y: number };
type Arc = { centre: Point; radius: number; from: number; to: number; ends: Point[] };
type Shapes = {
  size: number;
  corner: number;
  ground: number[];
  ink: number[];
  dot: Point & { r: number };
  line: number;
  arcs: Arc[];
};

const NUMBER = "(-?[\\d.]+)";

function shapesOf(svg: string): Shapes {
  const read = (form: string): string[] => {
    const found = new RegExp(form).exec(svg);
    if (!found) throw new Error(`icon.svg: expected ${form}`);
    return found.slice(1);
  };
  const numbers = (form: string) => read(form).map(Number);
  const [size = 0] = numbers(`viewBox="0 0 ${NUMBER}`);
  const [corner = 0] = numbers(`<rect [^>]*rx="${NUMBER}"`);
  const [ground = ""] = read('<rect [^>]*fill="#([0-9a-f]{6})"');
  const [line = 0] = numbers(`stroke-width="${NUMBER}"`);
  const [x = 0, y = 0, r = 0] = numbers(`<circle cx="${NUMBER}" cy="${NUMBER}" r="${NUMBER}"`);
  const [path = ""] = read('<path d="([^"]+)"');
  const arc = new RegExp(`M${NUMBER} ${NUMBER}a${NUMBER} ${NUMBER} 0 0 1 0 ${NUMBER}`, "g");
  const arcs = [...path.matchAll(arc)].map((match) => arcOf(match.slice(1).map(Number)));
  if (arcs.length === 0) throw new Error("icon.svg: expected arcs that begin and end below each other");
  const colour = (hex: string) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return { size, corner, ground: colour(ground), ink: [255, 255, 255], dot: { x, y, r }, line, arcs };
}

/** The arc bends to the right, from a point to one below it. */
function arcOf([x = 0, y = 0, radius = 0, , height = 0]: number[]): Arc {
  const middle = y + height / 2;
  const centre = { x: x - Math.sqrt(radius ** 2 - (height / 2) ** 2), y: middle };
  const angle = Math.asin(height / 2 / radius);
  return {
    centre,
    radius,
    from: -angle,
    to: angle,
    ends: [
      { x, y },
      { x, y: y + height },
    ],
  };
}

function draw(shapes: Shapes, width: number, fills: boolean): Uint8Array {
  const scale = shapes.size / width;
  const rows: Buffer[] = [];
  for (let py = 0; py < width; py += 1) {
    const row = Buffer.alloc(1 + width * 4);
    for (let px = 0; px < width; px += 1) {
      const point = { x: (px + 0.5) * scale, y: (py + 0.5) * scale };
      // How much of the pixel is within: its edge is one pixel wide.
      const cover = (distance: number) => Math.min(1, Math.max(0, 0.5 - distance / scale));
      const ink = cover(Math.min(dotDistance(shapes, point), ...arcDistances(shapes, point)));
      const alpha = fills ? 1 : cover(groundDistance(shapes, point));
      const mixed = shapes.ground.map((one, at) => Math.round(one + ((shapes.ink[at] ?? 0) - one) * ink));
      row.set([...mixed, Math.round(alpha * 255)], 1 + px * 4);
    }
    rows.push(row);
  }
  return png(width, Buffer.concat(rows));
}

// Distances to an edge, below 0 within the shape.

function groundDistance({ size, corner }: Shapes, { x, y }: Point): number {
  const half = size / 2 - corner;
  const [dx, dy] = [Math.abs(x - size / 2) - half, Math.abs(y - size / 2) - half];
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - corner;
}

function dotDistance({ dot }: Shapes, { x, y }: Point): number {
  return Math.hypot(x - dot.x, y - dot.y) - dot.r;
}

function arcDistances({ arcs, line }: Shapes, { x, y }: Point): number[] {
  return arcs.map(({ centre, radius, from, to, ends }) => {
    const angle = Math.atan2(y - centre.y, x - centre.x);
    const away =
      angle >= from && angle <= to
        ? Math.abs(Math.hypot(x - centre.x, y - centre.y) - radius)
        : Math.min(...ends.map((end) => Math.hypot(x - end.x, y - end.y)));
    return away - line / 2;
  });
}

/** @param pixels rows of RGBA, each after the number of its filter (0) */
function png(width: number, pixels: Buffer): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(width, 4);
  // 8 bits of each of red, green, blue and alpha.
  head.set([8, 6], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(pixels, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
