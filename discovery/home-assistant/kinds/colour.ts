/** Colours of lights: asked for in red, green and blue, and reported as hue and saturation whatever the light's own form is. */
import type { Matches } from "../../model/entity/fit.ts";

/** Lights count in steps of their own, so a colour comes back a bit beside. On the disc of hues, whose radius is 100. */
const NEAR = 4;

/** @returns hue in degrees and saturation in percent */
export function toHs([red, green, blue]: readonly [number, number, number]): [number, number] {
  const [r, g, b] = [red / 255, green / 255, blue / 255];
  const top = Math.max(r, g, b);
  const range = top - Math.min(r, g, b);
  if (range === 0) return [0, 0];
  const sixth = top === r ? (g - b) / range : top === g ? 2 + (b - r) / range : 4 + (r - g) / range;
  return [(sixth * 60 + 360) % 360, (range / top) * 100];
}

/** Both are hue and saturation. A hue says little where the saturation is small, so they are compared as points on the disc. */
export const nearHue: Matches = (asked, reported) => {
  if (!Array.isArray(asked) || !Array.isArray(reported)) return false;
  const [a, b] = [asked, reported].map(pointOf);
  return a !== undefined && b !== undefined && Math.hypot(a.x - b.x, a.y - b.y) <= NEAR;
};

function pointOf([hue = 0, saturation = 0]: readonly number[]): { x: number; y: number } {
  const angle = (hue * Math.PI) / 180;
  return { x: saturation * Math.cos(angle), y: saturation * Math.sin(angle) };
}
