/** The roles that a word or a phrase can have, with what it means in that role. */
import type {
  Action,
  AskForm,
  Color,
  Day,
  Option,
  PastForm,
  PastPeriod,
  Reading,
  Reason,
  Share,
  State,
  ThingType,
  Unit,
  Value,
  When,
  White,
} from "./frame.ts";

/** A singular, a plural, or a word that is both. */
type WordNumber = "one" | "many" | "either";

export type Named = {
  /** As it was said first in the home. */
  name: string;
  ids: readonly string[];
  /** A person gave it to one of them. */
  own: boolean;
  /** Ids of areas, beside `ids`. */
  areas: readonly (string | undefined)[];
};

/** Two words of one meaning, which the type or the device decides: `open` of `turn_on`. */
export type Either<Word> = { is: Word; or?: Word };

export type RoleValues = {
  // Of phrases.
  filler: null;
  /** A preposition that is also another role's word: "on" in "the disk on vm". Of questions alone. */
  prep: null;
  in: null;
  a: null;
  request: null;
  /**
   * A verb that needs a particle or a value: "turn", "set". Of some the particle says what they do: "schließ … ab", "heb … an",
   * "senk … ab", "halte … an", "führe … aus".
   */
  do: "any" | "lock" | "raise" | "lower" | "stop" | "run" | "flip" | "power";
  act: Either<Action>;
  /** The rest of such a verb, or an act by itself: "off" in "turn the lamp off", "lamp off". */
  particle: Either<Action>;
  change: "raise" | "lower";
  /** "make sure". */
  ensure: null;
  be: null;
  exist: null;
  show: null;
  ask: AskForm | "value";
  state: Either<State>;
  /** `named`: devices to which a publisher gave just this name. */
  /** `isVerb`: the word is also what is done, as "lock". */
  type: { type: ThingType; number: WordNumber; named?: Named; isVerb?: true };
  reading: Reading;
  all: null;
  each: null;
  /** Before names: "both the lamp and the fan". */
  both: null;
  everything: null;
  it: "one" | "many";
  and: null;
  /** "on or off". */
  or: null;
  here: "here" | "home";
  color: Color | "other";
  white: White;
  option: Option;
  bound: "minimum" | "maximum";
  half: null;
  /** "and a half". */
  and_half: null;
  /** "point" of "twenty point five". */
  point: null;
  unit: Unit;
  to: null;
  /** "at" before an amount with its unit: "at 40 %". */
  level: null;
  by: null;
  /** "from red to blue": the colour behind it is the one that is now. */
  from: null;
  minus: null;
  compare: "above" | "below" | "equal";
  changes: null;
  /** "80 % full", "2 GB free". */
  share: Share;
  /** Beside a state or a comparison: its word is a verb of change. "Tell me if it opens" is a watch, "if it is open" a question. */
  becomes: null;
  /** It refuses the sentence. */
  /** `when` begins a condition that a rule could have; `condition` is any other, as "unless" and "before". `then`: its act follows. */
  stop: Exclude<Reason["because"], "unknown_word" | "too_long" | "empty"> | "when" | "then";
  watch: null;
  remind: null;
  timer: null;
  /** "to", "that" between a reminder's head and its text. */
  that: null;
  model: null;
  help: null;
  clock: "time" | "date";
  ack: "ack" | "snooze";
  rule: { of: "rule" | "watch" | "reminder" | "briefing"; number: WordNumber };
  cancel: "cancel" | "pause" | "resume";
  // Of the past.
  past: PastForm;
  /** "last", "the last time". */
  latest: null;
  /** "was", "did" behind such a word. Alone it asks what the reader does not know. */
  was: null;
  /** Beside a head that does not tell whether it asks of the past: "wann ist", "combien de temps". */
  tenseless: null;
  period: PastPeriod;
  // Of times.
  at: null;
  for: null;
  after: null;
  every: null;
  days: readonly Day[] | "day" | "weekday" | "weekend" | "hour" | "today" | "tomorrow";
  daily: "day" | "hour";
  part: "am" | "pm" | "morning" | "noon" | "evening" | "night";
  span: number;
  minutes: number;
  oclock: null;
  // Of the home.
  name: Named;
  area: Named;
  floor: Named;
  rule_name: Named;
  // Of numbers, and of what is composed out of several items.
  number: { number: number; small: boolean };
  time: { minutes: number };
  value: { value: Value; how: "to" | "by" | "bare" };
  when: When;
  hold: number;
};

export type Role = keyof RoleValues;

/** One role that a stretch of the sentence plays. */
export type Item = { [R in Role]: { role: R; value: RoleValues[R]; at: number; to?: number } }[Role];

/** Without its place. */
export type Meaning = { [R in Role]: { role: R; value: RoleValues[R] } }[Role];

/** @returns the item of the role, with its value typed */
export function valuesOf<R extends Role>(items: readonly Item[], role: R): RoleValues[R][] {
  // SAFETY: an item's value is that of its role.
  return items.filter((item) => item.role === role).map((item) => item.value as RoleValues[R]);
}
