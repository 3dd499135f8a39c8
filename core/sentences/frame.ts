/**
 * What a sentence means, in no language: the frames that the reader makes, and that a resolver maps to calls. A frame knows words
 * alone: whether a device has the action or the reading, and which values it takes, its advert says.
 */
import type { Language } from "../text/languages.ts";

/** A sentence has one to three frames, in their order. A frame after an act runs only where that act succeeded. */
export type Frames = readonly Frame[];

export type Frame =
  | Act
  | Ask
  | Past
  | Devices
  | Watch
  | Remind
  | Briefing
  | Rules
  | Acknowledge
  | Help
  | Clock
  | AskModel;

/** Something is to be done by devices. */
export type Act = Do | SetValue | Change;

/** `or`: the language has one word for both, and a device has only one of them: 打开 switches a lamp on and opens a blind. */
type Do = { kind: "act"; action: Action; or?: Action; target: Target };

/** As in the adverts of hosted devices (discovery/mqtt/kinds), where `turn_on` and `turn_off` are `set` with `on`. `stop` also silences a siren, and `open` unlocks a lock that cannot open; `close` locks none. */
export const ACTIONS = [
  "turn_on",
  "turn_off",
  "toggle",
  "open",
  "close",
  "stop",
  "lock",
  "unlock",
  "start",
  "pause",
  "dock",
  "locate",
  "press",
] as const;
export type Action = (typeof ACTIONS)[number];

/** "set the heating to 21 degrees". Without a setting it is the one that the value fits: 40 % is a lamp's brightness and a blind's position. */
type SetValue = { kind: "act"; action: "set"; setting?: Setting; value: Value; target: Target };

/** "brighter", "turn the volume up by 10". Without an amount it is a step that the resolver chooses. */
type Change = {
  kind: "act";
  action: "raise" | "lower";
  setting?: Setting;
  by?: Amount;
  target: Target;
};

export const SETTINGS = [
  "brightness",
  "color",
  "color_temperature",
  "position",
  "tilt",
  "temperature",
  "humidity",
  "speed",
  "volume",
  "mode",
] as const;
export type Setting = (typeof SETTINGS)[number];

/** `°` is a degree of the home's own scale, or of a tilt. `K` belongs to colour temperatures. */
export const UNITS = [
  "%",
  "°",
  "°C",
  "°F",
  "K",
  "W",
  "kW",
  "kWh",
  "V",
  "A",
  "ppm",
  "hPa",
  "lx",
  "GB",
  "MB",
] as const;
export type Unit = (typeof UNITS)[number];

export type Amount = { number: number; unit?: Unit };

export type Value =
  | Amount
  | { bound: "minimum" | "maximum" }
  /** `other`: one that the light does not have now. */
  | { color: Color | "other" }
  | { white: White }
  | { option: Option };

export const COLORS = [
  "red",
  "green",
  "blue",
  "yellow",
  "orange",
  "purple",
  "pink",
  "white",
  "turquoise",
  "cyan",
  "magenta",
  "brown",
  "black",
] as const;
export type Color = (typeof COLORS)[number];

/** Tones of white. */
export const WHITES = ["candle", "warm", "neutral", "cold", "daylight"] as const;
export type White = (typeof WHITES)[number];

/** Values of modes, presets and speeds, as Home Assistant's publishers name them. */
export const OPTIONS = [
  "auto",
  "heat",
  "cool",
  "dry",
  "fan_only",
  "eco",
  "comfort",
  "boost",
  "away",
  "sleep",
  "low",
  "medium",
  "high",
] as const;
export type Option = (typeof OPTIONS)[number];

/** Whose it is. Ids are those of the table of names. */
export type Target =
  /** More than one id: several have this name. `place` narrows them where it was said, and `type` has to fit: "the Clippy mower". */
  | { of: "named"; ids: readonly string[]; name: string; type?: ThingType; place?: Place }
  /**
   * `one`: a singular, so several that fit are asked back. `many`: a plural. `all`: "all", "every". `any`: "a window", of questions and
   * watches. `named`: devices to which a publisher gave just this name, which are of the type whatever their kind.
   */
  | { of: "type"; type: ThingType; number: Several; named?: readonly string[]; place?: Place }
  /** "everything in the kitchen", with whatever has the action or the reading. */
  | { of: "everything"; place?: Place }
  /** Of questions, and of settings that were named: "how warm is it in the kitchen?", "set the temperature in the kitchen to 21". */
  | { of: "place"; place: Place }
  /** "it", "them": what this conversation spoke of last. */
  | { of: "earlier"; many: boolean }
  /** No target was said: "how full is the disk?", "brighter". */
  | { of: "unsaid" };

type Several = "one" | "many" | "all" | "any";

/** More than one id: several areas have this name. `here` and `home` have none. */
export type Place = { is: "area" | "floor" | "here" | "home"; ids: readonly string[]; name: string };

/** What a thing is called by its type. Kinds, classes and areas that fit are the resolver's: "window" is a contact and a cover. */
export const THING_TYPES = [
  "light",
  "plug",
  "switch",
  "fan",
  "cover",
  "blind",
  "shutter",
  "curtain",
  "awning",
  "window",
  "door",
  "garage_door",
  "gate",
  "valve",
  "lock",
  "heating",
  "cooling",
  "thermostat",
  "humidifier",
  "water_heater",
  "vacuum",
  "mower",
  "siren",
  "alarm",
  "media_player",
  "television",
  "speaker",
  "camera",
  "pump",
  "sprinkler",
  "washing_machine",
  "dryer",
  "dishwasher",
  "oven",
  "fridge",
  "freezer",
  "coffee_machine",
  "sensor",
  "thermometer",
  "motion_sensor",
  "smoke_detector",
  "leak_sensor",
  "button",
  "scene",
  "machine",
  "device",
] as const;
export type ThingType = (typeof THING_TYPES)[number];

/** Readings of hosted devices, by their class where one exists, and of machines. */
export const READINGS = [
  "state",
  "temperature",
  "target_temperature",
  "humidity",
  "carbon_dioxide",
  "air_quality",
  "pm25",
  "illuminance",
  "pressure",
  "power",
  "energy",
  "voltage",
  "current",
  "battery",
  "brightness",
  "color",
  "color_temperature",
  "position",
  "speed",
  "volume",
  "mode",
  "level",
  "wind_speed",
  "precipitation",
  "signal_strength",
  // Of machines.
  "disk",
  "memory",
  "load",
  "uptime",
  "services",
  "failed_services",
  "log",
  "log_errors",
  "address",
  "processes",
  "picture",
  "version",
] as const;
export type Reading = (typeof READINGS)[number];

export const STATES = [
  "on",
  "off",
  "open",
  "closed",
  "locked",
  "unlocked",
  "moving",
  "motion",
  "no_motion",
  "occupied",
  "wet",
  "dry",
  "smoke",
  "gas",
  "online",
  "offline",
  "home",
  "away",
  "charging",
  "low_battery",
  "running",
  "finished",
  "cleaning",
  "docked",
  "paused",
  "heating",
  "cooling",
  "playing",
  "failed",
] as const;
export type State = (typeof STATES)[number];

/**
 * A value that is compared. `is` is as in core/protocol/rules.ts. Without a reading it is the one that the target has: "the freezer is above -15".
 * `share`, of disk and memory: "more than 80 % full", "less than 2 GB free". Where it was not said, a `%` is of what is used and a `GB` of what is free.
 */
export type Comparison = {
  reading?: Reading;
  share?: Share;
  is: "above" | "below" | "equal";
  value: Amount;
};
export type Share = "free" | "used";

/** A question. It never acts. */
export type Ask =
  /** "how warm is it in the bedroom?", "what is the state of the lamp?" */
  | { kind: "ask"; form: "value"; reading: Reading; target: Target }
  /** "is the front door locked?", "which windows are open?", "how many lights are on?", "is any window open?", "are all closed?" */
  | { kind: "ask"; form: AskForm; state: State; or?: State; target: Target }
  /** "is it warmer than 20 degrees in the office?" */
  | { kind: "ask"; form: "yes_no" | "which"; compare: Comparison; target: Target };

/** What is asked of the past: when it began last, since when it is so, how long it was so, how often it began. */
export const PAST_FORMS = ["last", "since", "duration", "count"] as const;
export type PastForm = (typeof PAST_FORMS)[number];

/** `day`: the last 24 hours. Days, weeks and months are those of the home's calendar. */
export const PAST_PERIODS = [
  "today",
  "yesterday",
  "last_night",
  "day",
  "this_week",
  "last_week",
  "this_month",
  "last_month",
] as const;
export type PastPeriod = (typeof PAST_PERIODS)[number];

/** "when was the front door last open?", "how long did the pump run yesterday?" */
export type Past = {
  kind: "past";
  form: PastForm;
  state: State;
  or?: State;
  target: Target;
  period?: PastPeriod;
};

export type AskForm = "yes_no" | "which" | "count" | "any" | "all";

/** "which devices are online?", "which lights do you know?" */
export type Devices = {
  kind: "devices";
  state?: "online" | "offline";
  type?: ThingType;
  place?: Place;
  form: "which" | "count";
};

/** "tell me when …". */
export type Watch = { kind: "watch"; target: Target; condition: WatchFor; for_minutes?: number };
export type WatchFor = Comparison | { state: State; or?: State } | { changes: Reading };

/** "When the leak sensor is wet, close the water valve." */
export type ActingRule = { when: Watch; acts: readonly Act[] };

/** `text` is what stands in the sentence, in its own letters; empty where no text was said ("set a timer for 5 minutes"). */
export type Remind = { kind: "remind"; when: When; text: string };

/** "every morning at 8 the garden's temperature": the questions, and their words as they were said. */
export type Briefing = { kind: "briefing"; when: When; asks: readonly Ask[]; text: string };

const DAYS = ["mo", "tu", "we", "th", "fr", "sa", "su"] as const;
export type Day = (typeof DAYS)[number];

/** Times of the home's clock, "HH:MM". */
export type When =
  | { in_minutes: number }
  /** The next time that it is so late, or on the day that was said. */
  | { at: string; day?: "today" | "tomorrow" | Day }
  | { every: "day" | "weekday" | "weekend" | "hour"; at?: string }
  | { every: "week"; days: readonly Day[]; at?: string };

/** "list my rules", "cancel all reminders", "stop watching the freezer". */
export type Rules = {
  kind: "rules";
  do: "list" | "cancel" | "pause" | "resume";
  of?: "watch" | "reminder" | "briefing";
  /** One, or all of them. A list is of all. */
  all: boolean;
  /** Those about this, also of a list. */
  target?: Target;
  /** The rule's own name as it was said, where it is in the table of names. */
  id?: string;
};

/** "ok, I know", "snooze for 10 minutes": of what fires now. */
export type Acknowledge = { kind: "ack"; snooze_minutes?: number };

/** "what can you do?" */
type Help = { kind: "help" };

/** "what time is it?" */
type Clock = { kind: "clock"; of: "time" | "date" };

/** "ask the model: …": the person wants a model's answer to this text. */
type AskModel = { kind: "model"; text: string };

export type Meaning = { language: Language; frames: Frames };

/** What the reader hands back. */
export type Understood =
  /** `slip`: of a question alone. This word was taken for that one, which an answer says. */
  | ({ result: "one"; slip?: { said: string; taken: string } } & Meaning)
  /** Asked back, or left to a model. */
  | { result: "several"; meanings: readonly Meaning[] }
  | { result: "none"; language?: Language; reason: Reason };

/** Why nothing was understood. Words are as they were said. */
export type Reason =
  | { because: "unknown_word"; word: string; near: readonly Near[] }
  /** "don't", "not", "everything but". */
  | { because: "negation" | "exception"; word: string }
  /** "if", "when", "unless" beside an act. `rule` is what a rule that acts could take. */
  | { because: "condition"; word: string; rule?: ActingRule }
  /** A time beside an act. `when` is what a reminder could take. */
  | { because: "delay"; when?: When }
  | { because: "quotation" }
  /** "why", "should", "did": the reader knows no answer. */
  | { because: "question"; word?: string }
  /** "what is a thermostat?" */
  | { because: "general"; word: string }
  /** An act without one, or with a room alone. `action` is what was understood. */
  | { because: "no_target"; action?: Act["action"] }
  | { because: "no_action" }
  /** More than three parts, 30 words, 200 characters, or too many ways to read it. */
  | { because: "too_long" }
  | { because: "empty" }
  /** Each word is known, and together they make no sense here. */
  | { because: "no_sense" };

/** A known word or name that is nearly the unknown one. `whole` is the sentence with it in its place. */
export type Near = { word: string; whole: string };
