/** Frames of the reader as a meaning of these tests. */
import type * as frame from "../../core/sentences/frame.ts";
import { devicesOf, type Home } from "./homes.ts";
import type { Got } from "./judge.ts";
import type { Act, Meaning, Until, Verb, When } from "./meaning.ts";

/** A frame that asks for a model is passed on. Frames of several kinds are `other`. */
export function meaningOf(frames: frame.Frames, home: Home, it: readonly string[] = []): Got {
  const meanings = frames.map((one) => meaningOfOne(one, home, it));
  const [first] = meanings;
  if (first === undefined || meanings.includes("passed")) return "passed";
  if (meanings.length === 1) return first;
  const acts = meanings.flatMap((one) => (one !== "passed" && "acts" in one ? one.acts : []));
  return acts.length === meanings.length
    ? { acts }
    : acts.length > 0
      ? { acts: [...acts, { do: "other", to: [] }] }
      : { other: "several" };
}

function meaningOfOne(one: frame.Frame, home: Home, it: readonly string[]): Got {
  if ("target" in one && one.target !== undefined && isMissing(one.target, home, it)) return "passed";
  switch (one.kind) {
    case "act":
      return { acts: [actOf(one, home, it)] };
    case "ask":
      return askOf(one, home, it);
    case "devices":
      return { list: one.state === "online" ? "online" : "devices" };
    case "watch":
      return watchOf(one, home, it);
    case "remind":
      return { remind: whenOf(one.when), text: one.text };
    case "briefing": {
      const [first] = one.asks;
      const asked = first === undefined ? undefined : askOf(first, home, it);
      return { briefing: whenOf(one.when), ...(asked !== undefined && "ask" in asked ? asked : {}) };
    }
    case "rules":
      if (one.do === "list") return { list: one.of === undefined ? "rules" : RULES[one.of] };
      if (one.do !== "cancel") return { other: one.do };
      return {
        cancel: one.of === undefined ? "rules" : RULES[one.of],
        ...(one.all ? { which: "all" } : {}),
      };
    case "help":
      return { help: true };
    case "clock":
      return { clock: one.of };
    case "model":
      return "passed";
    case "ack":
    case "past":
      return { other: one.kind };
  }
}

/** "it" without a turn before. And a home that is known wholly has no such device. Both are told, and nothing is done. */
const isMissing = (target: frame.Target, home: Home, it: readonly string[]): boolean =>
  (target.of === "earlier" && it.length === 0) ||
  (target.of === "type" &&
    home.isWhole === true &&
    !devicesOf(home, thingsOf(target, home)).some((id) => home.devices.some((device) => device.id === id)));

const RULES = { watch: "watches", reminder: "reminders", briefing: "briefings" } as const;
const VERBS: Partial<Record<frame.Action, Verb>> = {
  turn_on: "on",
  turn_off: "off",
  dock: "return",
  press: "on",
};
const SETTINGS: Partial<Record<frame.Setting, string>> = {
  color: "colour",
  color_temperature: "colour temperature",
};
/** "lower the blinds" closes them. */
const MOVES = { raise: "open", lower: "close" } as const;

function actOf(act: frame.Act, home: Home, it: readonly string[]): Act {
  const to = thingsOf(act.target, home, it);
  const asksWhich = act.target.of === "type" && act.target.number === "one" && devicesOf(home, to).length > 1;
  const target = { to, ...(asksWhich ? { asksWhich } : {}) };
  if (act.action === "set") {
    const what = settingOfValue(act.value) ?? settingOf(act.setting);
    return { do: "set", ...target, ...(what === undefined ? {} : { what }), ...valueIn(act.value) };
  }
  if (act.action === "raise" || act.action === "lower") {
    const what = settingOf(act.setting);
    const covers = devicesOf(home, to).every((name) => isOneOf(COVERS, name, home));
    if (covers && act.by === undefined && (what ?? "position") === "position")
      return { do: MOVES[act.action], ...target };
    return { do: act.action, ...target, ...(what === undefined ? {} : { what }) };
  }
  const action = oneOf<frame.Action>(act.action, "or" in act ? act.or : undefined, to, home);
  // A fan has no stop of its own: the resolver switches it off.
  const isFan = devicesOf(home, to).every((name) => isOneOf(["fan"], name, home));
  if (action === "stop" && isFan) return { do: "off", ...target };
  return { do: VERBS[action] ?? verbOf(action), ...target };
}

const verbOf = (action: frame.Action): Verb =>
  action === "toggle" ||
  action === "open" ||
  action === "close" ||
  action === "stop" ||
  action === "lock" ||
  action === "unlock" ||
  action === "start" ||
  action === "pause"
    ? action
    : "other";

const COVERS = ["cover", "blind", "shutter", "curtain", "awning", "garage_door", "gate"];
const OPENS = [...COVERS, "contact", "lock", "valve", "window", "door"];
const isOneOf = (types: string[], name: string, home: Home): boolean =>
  types.includes(home.devices.find(({ id }) => id === name)?.kind ?? name.split("@")[0] ?? "");

/** Of a word that means two things, the one that these devices have: what opens is not switched on. */
function oneOf<T extends string>(said: T, or: T | undefined, things: string[], home: Home): T {
  if (or === undefined) return said;
  const opens = devicesOf(home, things).every((name) => isOneOf(OPENS, name, home));
  const isOfOpening = (word: T) => /^(open|close|closed|locked|unlocked|lock|unlock)$/.test(word);
  return isOfOpening(said) === opens ? said : or;
}

const settingOf = (setting?: frame.Setting): string | undefined =>
  setting === undefined ? undefined : (SETTINGS[setting] ?? setting);

function settingOfValue(value: frame.Value): string | undefined {
  if ("color" in value) return "colour";
  if ("white" in value) return "colour temperature";
  return "number" in value && value.unit === "K" ? "colour temperature" : undefined;
}

function valueIn(value: frame.Value): Pick<Act, "value"> {
  if ("number" in value) return { value: value.number };
  if ("bound" in value) return { value: value.bound };
  if ("color" in value) return { value: value.color };
  return { value: "white" in value ? value.white : value.option };
}

/** Ids are names in these homes. Types come as "light@Kitchen", which `devicesOf` reads. */
function thingsOf(target: frame.Target, home: Home, it: readonly string[] = []): string[] {
  switch (target.of) {
    case "named":
      return [...target.ids];
    case "type": {
      const place = placeOf(target.place);
      const type = place === undefined ? target.type : `${target.type}@${place}`;
      const found = devicesOf(home, [type]).filter((id) => home.devices.some((device) => device.id === id));
      const all = [...new Set([...found, ...(target.named ?? [])])];
      return all.length > 0 ? all : [type];
    }
    case "everything":
      return [inPlace(target.place)];
    case "place":
      return [inPlace(target.place)];
    case "earlier":
      return [...it];
    case "unsaid":
      return ["*"];
  }
}

const placeOf = (place?: frame.Place): string | undefined =>
  place?.is === "area" || place?.is === "floor" ? (place.ids[0] ?? place.name) : undefined;
const inPlace = (place?: frame.Place): string => {
  const name = placeOf(place);
  return name === undefined ? "*" : `*@${name}`;
};

function askOf(ask: frame.Ask, home: Home, it: readonly string[]): Meaning {
  const of = thingsOf(ask.target, home, it);
  if ("compare" in ask) return { ask: ask.compare.reading ?? "*", of };
  if (ask.form === "value") return { ask: ask.reading, of };
  if (ask.state === "online") return { ask: "online", of };
  return { ask: "state", is: oneOf(ask.state, ask.or, of, home), of };
}

function watchOf(watch: frame.Watch, home: Home, it: readonly string[]): Meaning {
  const of = thingsOf(watch.target, home, it);
  const { condition } = watch;
  if ("state" in condition)
    return { watch: "state", of, until: { is: oneOf(condition.state, condition.or, of, home) } };
  if ("changes" in condition) return { watch: condition.changes, of, until: { is: "changed" } };
  const bound = condition.value.number;
  const until: Until =
    condition.is === "above"
      ? { above: bound }
      : condition.is === "below"
        ? { below: bound }
        : { is: String(bound) };
  return { watch: condition.reading ?? "*", of, until };
}

const DAYS: Record<frame.Day, string> = {
  mo: "monday",
  tu: "tuesday",
  we: "wednesday",
  th: "thursday",
  fr: "friday",
  sa: "saturday",
  su: "sunday",
};

function whenOf(when: frame.When): When {
  if ("in_minutes" in when) return { in: when.in_minutes * 60 };
  const at = when.at === undefined ? {} : { at: when.at };
  if (!("every" in when)) {
    const day = when.day === undefined || when.day === "today" ? undefined : when.day;
    return { ...at, ...(day === undefined ? {} : { day: day === "tomorrow" ? day : DAYS[day] }) };
  }
  return { ...at, every: when.every === "week" ? when.days.map((day) => DAYS[day]).join(" ") : when.every };
}
