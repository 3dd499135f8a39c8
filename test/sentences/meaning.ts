/** What a sentence means, in the tests' own words. The reader's types are not used, so a sentence keeps its meaning when the reader changes. */

export type Verb =
  | "on"
  | "off"
  | "toggle"
  | "open"
  | "close"
  | "stop"
  | "lock"
  | "unlock"
  | "start"
  | "return"
  | "pause"
  | "mute"
  | "other"
  | "set"
  | "raise"
  | "lower";

/** A time of a rule. `in` is in seconds, `at` is "HH:MM", `every` is "day", "weekday", "weekend", "hour", "month" or "monday" to "sunday". */
export interface When {
  in?: number;
  at?: string;
  every?: string;
  /** "tomorrow", or a weekday that comes once. */
  day?: string;
}

/** What a watch waits for: a state, or a bound of a reading in its unit. */
export interface Until {
  is?: string;
  above?: number;
  below?: number;
}

export interface Act {
  do: Verb;
  /** Devices by their ids, or "light@Kitchen" (`devicesOf`). More than one, all of them. */
  to: string[];
  /** True where one of `to` is meant, so that edgecall has to ask which one. Undefined where authors differ: "the light" of a room with two. */
  asksWhich?: boolean;
  /** What is set, raised or lowered: "brightness", "temperature", "colour", "colour temperature", "position", "speed", "volume". */
  what?: string;
  /** Percent, degrees, kelvin, a colour's English name, "minimum", "maximum", "warm" or "cold". */
  value?: number | string;
}

export type Meaning =
  | { acts: Act[] }
  /** `is` is the state that a yes/no or a "which" question names. "*" as `ask` or `is`: whatever is asked of these. */
  | { ask: string; of: string[]; is?: string }
  | { watch: string; of: string[]; until: Until }
  | { remind: When; text?: string }
  | { briefing: When; ask?: string; of?: string[] }
  | { list: "rules" | "reminders" | "watches" | "briefings" | "devices" | "online" }
  | { cancel: "rules" | "reminders" | "watches" | "briefings"; which?: string }
  | { clock: "time" | "date" }
  | { help: true }
  /** Understood, and nothing that these sentences ask for. */
  | { other: string };

/**
 * "nothing": it has to be passed on.
 * "either": it may be passed on, or answered, but nothing may be done, watched or cancelled.
 * "no act": anything but an act of a device. A reminder or the clock is right too.
 * A list: one of these is right.
 */
export type Expected = Meaning | Meaning[] | "nothing" | "either" | "no act";

export interface Sentence {
  text: string;
  means: Expected;
  /** The devices that the turn before was about. */
  it?: string[];
}

export const act = (verb: Verb, ...to: string[]): Meaning => ({ acts: [{ do: verb, to, asksWhich: false }] });
export const both = (...meanings: Meaning[]): Meaning => ({
  acts: meanings.flatMap((meaning) => ("acts" in meaning ? meaning.acts : [])),
});
export const which = (verb: Verb, ...to: string[]): Meaning => ({
  acts: [{ do: verb, to, asksWhich: true }],
});
export const set = (what: string, value: number | string, ...to: string[]): Meaning => ({
  acts: [{ do: "set", to, what, value }],
});
/** A change without a value: brighter, warmer, faster. */
export const change = (verb: "raise" | "lower", what: string, ...to: string[]): Meaning => ({
  acts: [{ do: verb, to, what }],
});
export const ask = (what: string, ...of: string[]): Meaning => ({ ask: what, of });
export const is = (state: string, ...of: string[]): Meaning => ({ ask: "state", is: state, of });
export const watch = (what: string, of: string, until: Until): Meaning => ({ watch: what, of: [of], until });
export const remind = (when: When, text?: string): Meaning => ({
  remind: when,
  ...(text === undefined ? {} : { text }),
});
export const briefing = (when: When, what?: string, ...of: string[]): Meaning => ({
  briefing: when,
  ...(what === undefined ? {} : { ask: what, of }),
});
export const list = (what: Extract<Meaning, { list: unknown }>["list"]): Meaning => ({ list: what });
export const cancel = (what: Extract<Meaning, { cancel: unknown }>["cancel"], name?: string): Meaning => ({
  cancel: what,
  ...(name === undefined ? {} : { which: name }),
});
export const HELP: Meaning = { help: true };

/** Sentences out of rows: the text, what it means, and the devices of the turn before. */
export const sentences = (rows: [string, Expected, string[]?][]): Sentence[] =>
  rows.map(([text, means, it]) => ({ text, means, ...(it === undefined ? {} : { it }) }));
