/** What is kept of a reading, as questions about the past need it. Times are epoch ms. */

import type { Stretch } from "./stretch.ts";

export type KeptValue = number | string | boolean;

/**
 * A value holds until the next one. null: from here on nothing is known, since the device, or this value, is not available.
 * @property stretch what was before it, in short
 */
export type Sample = { at: number; value: KeptValue | null; stretch?: Stretch };

/** Why nothing is known of any reading: the bridge was off, its clock was set, its disk took nothing, or the day is not kept any more. */
export const GAP_CAUSES = ["bridge", "clock", "disk", "gone"] as const;
type GapCause = (typeof GAP_CAUSES)[number];

/** `none`: no value had come by then. `away`: the device, the value, or what brings it was not available. */
export type UnknownCause = GapCause | "away" | "none";

/** Of no reading anything is known. After it a reading is known again with its first new value. */
export type Gap = { from: number; to: number; why: GapCause };

/** A reading of a device. With another unit it is another series: its numbers mean something else. */
export type SeriesInfo = {
  /** The device's key, which survives renames. */
  device: string;
  reading: string;
  unit?: string;
  /** The device class: `door`, `temperature`. */
  class?: string;
  /** `sensor`, `binary_sensor`, `event`. */
  kind: string;
};

/** A value of an event is a moment: it holds for no time. */
export function isMoment({ kind }: Pick<SeriesInfo, "kind">): boolean {
  return kind === "event";
}
