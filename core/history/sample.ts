/** What is kept of a reading, as questions about the past need it. Times are epoch ms. */

export type KeptValue = number | string | boolean;

/**
 * A value holds until the next one. null: from here on nothing is known, since the device, or this value, is not available.
 * @property stretch what was before it, in short
 */
export type Sample = { at: number; value: KeptValue | null; stretch?: Stretch };

export type Span = { from: number; to: number };
export type Extreme = { at: number; value: number };

/**
 * What a part of a line says, without its values. Nothing in it is unknown. It ends with a sample, which has it, and says what was before.
 */
export type Stretch = {
  /** Epoch ms. `to` is when its sample came. */
  from: number;
  to: number;
  first: KeptValue;
  /** What held until `to`. */
  end: KeptValue;
  /** Parts of one value; 0 of moments. */
  spans: number;
  /** Since when `end` held. */
  endFrom: number;
  about: NumbersAbout | StatesAbout | MomentsAbout;
};

/**
 * @property weighted each number by the ms for which it held @property lifts what a meter had before it began anew, in all
 * @property rooms the wide ones between its numbers
 */
export type NumbersAbout = {
  of: "numbers";
  min: Extreme;
  max: Extreme;
  weighted: number;
  lifts: number;
  rooms?: readonly Room[];
};
/**
 * None of the stretch's numbers is between `low` and `high`: a pump takes 0.1 W or 300 W.
 * @property line the stretch as two states, below and above. The value of each is the number with which its last part began
 */
export type Room = { low: number; high: number; line: StatesLine };
type StatesLine = Pick<Stretch, "end" | "spans" | "endFrom"> & { about: StatesAbout };
/** @property firstTo until when the first one held */
export type StatesAbout = { of: "states"; firstTo: number; states: readonly StateAbout[] };
/**
 * Of one state. Times are those of its spans that neither begin nor end the stretch.
 * @property hours a bit for each hour of the day (UTC) that has some of them, the lowest is the first one; absent: it is not known of more than `longest` and `last`
 */
export type StateAbout = {
  value: KeptValue;
  count: number;
  ms: number;
  longest?: Span;
  last?: Span;
  hours?: number;
};
/** Each value that came. */
export type MomentsAbout = {
  of: "moments";
  values: readonly { value: KeptValue; count: number; last: number }[];
};

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

/** Tells which values are one for what is asked. undefined: the value is like no other one */
export type SideOf = (value: KeptValue) => boolean | undefined;

/** A value of an event is a moment: it holds for no time. */
export function isMoment({ kind }: Pick<SeriesInfo, "kind">): boolean {
  return kind === "event";
}
