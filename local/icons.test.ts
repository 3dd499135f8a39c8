import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";

const PUBLIC = new URL("../worker/features/console/public/", import.meta.url);
const NAMES = ["icon-180.png", "icon-192.png", "icon-512.png"];

/** @returns the colour at a place of the icon's own 32 units */
function reader(name: string) {
  const bytes = readFileSync(new URL(name, PUBLIC));
  const width = bytes.readUInt32BE(16);
  const length = bytes.readUInt32BE(33);
  const pixels = inflateSync(bytes.subarray(41, 41 + length));
  const at = (x: number, y: number) => {
    const [px, py] = [x, y].map((one) => Math.floor((one / 32) * width)) as [number, number];
    return [...pixels.subarray(py * (1 + width * 4) + 1 + px * 4).subarray(0, 4)];
  };
  return { size: bytes.length, width, at };
}

const [GREEN, WHITE] = [
  [0x17, 0x70, 0x5a, 255],
  [255, 255, 255, 255],
];

test.each(NAMES)("%s has the icon's shapes and is small", (name) => {
  const { size, width, at } = reader(name);
  expect(name).toBe(`icon-${width}.png`);
  expect(size).toBeLessThan(width > 200 ? 16_000 : 6_000);
  expect(at(10, 16)).toEqual(WHITE);
  expect(at(18.7, 16)).toEqual(WHITE);
  expect(at(15, 16)).toEqual(GREEN);
  expect(at(4, 16)).toEqual(GREEN);
  expect(at(0.1, 0.1)[3]).toBe(name === "icon-180.png" ? 255 : 0);
});

test("the page and the manifest name them, and the manifest their sizes", () => {
  const { icons: named } = JSON.parse(readFileSync(new URL("manifest.webmanifest", PUBLIC), "utf8")) as {
    icons: Array<{ src: string; sizes: string }>;
  };
  expect(named.map(({ src, sizes }) => `${src} ${sizes}`)).toEqual([
    "/icon.svg any",
    "/icon-192.png 192x192",
    "/icon-512.png 512x512",
  ]);
  const page = readFileSync(new URL("../page/index.html", PUBLIC), "utf8");
  expect(page).toContain('<link rel="apple-touch-icon" href="/icon-180.png">');
});
