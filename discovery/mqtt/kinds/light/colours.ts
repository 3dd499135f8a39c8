/** Colours as lights take and report them. A person and a model say red, green and blue. */

import { numberText } from "@edgecall/core/text/quantity.ts";
import type { SlotValue } from "../../../model/entity/entity.ts";
import { isObject, numberOf } from "../../config/fields.ts";

export type Rgb = readonly [red: number, green: number, blue: number];

/** Forms of a colour that a light may take, in the order in which we choose. */
export const COLOUR_SPACES = ["rgb", "rgbw", "rgbww", "hs", "xy"] as const;
export type ColourSpace = (typeof COLOUR_SPACES)[number];

/** Members of a colour in JSON. */
const MEMBERS = {
  rgb: ["r", "g", "b"],
  rgbw: ["r", "g", "b", "w"],
  rgbww: ["r", "g", "b", "c", "w"],
  hs: ["h", "s"],
  xy: ["x", "y"],
} as const;

export function toSpace(space: ColourSpace, rgb: Rgb): number[] {
  if (space === "hs") return toHs(rgb);
  if (space === "xy") return toXy(rgb);
  return [...rgb, ...Array.from({ length: MEMBERS[space].length - 3 }, () => 0)];
}

export function colourObject(space: ColourSpace, colour: readonly number[]): Record<string, number> {
  return Object.fromEntries(MEMBERS[space].map((member, at) => [member, colour[at] ?? 0]));
}

/** @returns undefined when a member is missing */
export function colourFromObject(space: ColourSpace, value: unknown): number[] | undefined {
  if (!isObject(value)) return undefined;
  return all(MEMBERS[space].map((member) => numberOf(value[member])));
}

/** One more than a colour has. */
const PARTS_MAX = 6;

/** From `255,0,10`. */
export function colourFromText(space: ColourSpace, text: string): number[] | undefined {
  const numbers = text.split(",", PARTS_MAX).map(numberOf);
  return numbers.length === MEMBERS[space].length ? all(numbers) : undefined;
}

/** The finest steps that a light counts in: a hue of 0–254 in degrees, a saturation in percent, an xy that is sent. */
const OWN_STEPS: Readonly<Record<ColourSpace, readonly number[]>> = {
  rgb: [1, 1, 1],
  rgbw: [1, 1, 1, 1],
  rgbww: [1, 1, 1, 1, 1],
  hs: [360 / 254, 1],
  xy: [0.001, 0.001],
};

/** Tells whether a light reports the colour that was asked for, or one that is a step of red, green and blue beside it. */
export function sameColour(space: ColourSpace, asked: Rgb, reported: SlotValue): boolean {
  const wanted = toSpace(space, asked);
  if (!Array.isArray(reported) || reported.length !== wanted.length) return false;
  // SAFETY: a slot's list holds numbers.
  const distances = distance(space, wanted, reported as readonly number[]);
  const beside = asked.flatMap((_, at) => [-1, 1].map((step) => toSpace(space, stepped(asked, at, step))));
  const steps = beside.map((colour) => distance(space, wanted, colour));
  return distances.every((one, at) => {
    const own = OWN_STEPS[space][at] ?? 0;
    return one <= Math.max(own, ...steps.map((step) => step[at] ?? 0)) + 1e-9;
  });
}

function stepped(rgb: Rgb, at: number, step: number): Rgb {
  const [red, green, blue] = rgb.map((one, place) =>
    Math.min(255, Math.max(0, one + (place === at ? step : 0))),
  );
  return [red ?? 0, green ?? 0, blue ?? 0];
}

/** Returns the difference of each member. A hue is a circle. */
function distance(space: ColourSpace, a: readonly number[], b: readonly number[]): number[] {
  return a.map((one, at) => {
    const size = Math.abs(one - (b[at] ?? 0));
    return space === "hs" && at === 0 ? Math.min(size, 360 - size) : size;
  });
}

export function colourText(space: ColourSpace): (value: SlotValue) => string {
  return (value) =>
    Array.isArray(value) ? `${space} ${value.map((one: number) => numberText(one)).join(", ")}` : "unknown";
}

function all(numbers: readonly (number | undefined)[]): number[] | undefined {
  const found = numbers.filter((one) => one !== undefined);
  return found.length === numbers.length ? found : undefined;
}

/** Hue in degrees and saturation in percent. */
function toHs([red, green, blue]: Rgb): number[] {
  const [r, g, b] = [red / 255, green / 255, blue / 255];
  const top = Math.max(r, g, b);
  const range = top - Math.min(r, g, b);
  if (range === 0) return [0, 0];
  const sixth = top === r ? (g - b) / range : top === g ? 2 + (b - r) / range : 4 + (r - g) / range;
  return [round((((sixth * 60) % 360) + 360) % 360, 3), round((range / top) * 100, 3)];
}

/** CIE 1931, by the matrix of Philips' wide gamut as Home Assistant uses it. */
function toXy(rgb: Rgb): number[] {
  const [r, g, b] = rgb.map((one) => {
    const part = one / 255;
    return part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92;
  }) as [number, number, number];
  const x = r * 0.664511 + g * 0.154324 + b * 0.162028;
  const y = r * 0.283881 + g * 0.668433 + b * 0.047685;
  const z = r * 0.000088 + g * 0.07231 + b * 0.986039;
  const sum = x + y + z;
  // Black has no colour: white's, at no brightness.
  return sum === 0 ? [0.323, 0.329] : [round(x / sum, 3), round(y / sum, 3)];
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
