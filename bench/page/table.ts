/** The first paint of the console as a line for people. */
import type { FirstPaint } from "./measure.ts";

export function pageTable({ devices, emptyMs, homeMs, signInMs, ratio }: FirstPaint): string {
  return [
    `first paint of Home with ${devices} devices: ${homeMs.toFixed(0)} ms, of an empty page ${emptyMs.toFixed(0)} ms: ${ratio.toFixed(2)} times`,
    `the first visit's sign-in, without a stored script: ${signInMs.toFixed(0)} ms`,
  ].join("\n");
}

export const PAGE_NOTES = [
  "First paint: from the navigation's start until the frame that has the areas; Chromium beside gateway, bridge and broker, its",
  "store of scripts filled; the empty page is the gateway's /healthz.",
];
