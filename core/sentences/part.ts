/** What a part of a sentence means: an act or a question. Each of its roles is used, or it means nothing. Pure. */
import type { Act, Action, Ask, Devices, Frame, Reason, Setting, State, Target, Value } from "./frame.ts";
import { SETTINGS, THING_TYPES, type ThingType } from "./frame.ts";
import { type Either, type Item, type Role, type RoleValues, valuesOf } from "./roles.ts";
import { TARGET_ROLES, targetOf } from "./target.ts";

/** Several frames: a person is asked which was meant. */
export type Built = { frames: readonly Frame[] } | { refused: Reason } | undefined;

export type PartContext = { hasQuestionMark: boolean };

/** Items of a part by their roles. What is never taken was not used. */
class Roles {
  readonly #left: Map<Role, Item[]>;

  constructor(items: readonly Item[]) {
    this.#left = Map.groupBy(items, ({ role }) => role);
  }

  has(role: Role): boolean {
    return this.#left.has(role);
  }

  take<R extends Role>(role: R): RoleValues[R][] {
    const items = this.#left.get(role) ?? [];
    this.#left.delete(role);
    return valuesOf(items, role);
  }

  /** @returns the one value of the role; undefined where there is none, null where there are several */
  one<R extends Role>(role: R): NonNullable<RoleValues[R]> | undefined | null {
    const values = this.take(role);
    // "mach die Lautstärke lauter" says it twice.
    if (values.every((value) => value === values[0])) values.length = Math.min(1, values.length);
    return values.length > 1 ? null : (values[0] ?? undefined);
  }

  items(): Item[] {
    return [...this.#left.values()].flat();
  }

  isUsed(): boolean {
    return this.#left.size === 0;
  }
}

const ASKING: ReadonlySet<Role> = new Set<Role>(["ask", "be", "exist", "show"]);
/** "set" and "make sure" act whatever stands beside them. */
const ACTING: ReadonlySet<Role> = new Set<Role>(["act", "particle", "change", "ensure", "do"]);

function isQuestionPart(items: readonly Item[], { hasQuestionMark }: PartContext): boolean {
  const has = (roles: ReadonlySet<Role>) => items.some(({ role }) => roles.has(role));
  const isEnsured = items.some(({ role }) => role === "ensure");
  if (isEnsured) return false;
  if (has(ASKING)) return true;
  if (hasQuestionMark && !items.some(({ role }) => role === "request")) return true;
  return !has(ACTING) && !items.some(({ role }) => role === "value");
}

export function partOf(items: readonly Item[], context: PartContext): Built {
  const targetItems = items.filter(({ role }) => TARGET_ROLES.has(role));
  const roles = new Roles(items.filter(({ role }) => !TARGET_ROLES.has(role)));
  const found = targetOf(targetItems);
  const isAsked = isQuestionPart(items, context);
  if (found === undefined) return undefined;
  if (isAsked) return question(roles, found.targets, found.any, targetItems, context);
  // "turn the volume up on the TV", "set blue for all lights".
  const sets = items.some(({ role }) => role === "value" || role === "change");
  if (!sets && targetItems.some(({ role }) => role === "prep")) return undefined;
  const acts = found.targets.map((target) => act(roles, singular(target)));
  return merged(acts);
}

function merged(built: readonly Built[]): Built {
  const frames = built.flatMap((one) => (one && "frames" in one ? one.frames : []));
  return frames.length > 0 ? { frames } : built.find((one) => one !== undefined);
}

/** "turn on a light" is one of several, as "the light". */
function singular(target: Target): Target {
  return target.of === "type" && target.number === "any" ? { ...target, number: "one" } : target;
}

const OF_STATE: Readonly<Partial<Record<State, Action>>> = {
  on: "turn_on",
  off: "turn_off",
  open: "open",
  closed: "close",
  locked: "lock",
  unlocked: "unlock",
  docked: "dock",
};

function act(given: Roles, target: Target): Built {
  const roles = new Roles(given.items());
  roles.take("request");
  const verbs = roles.take("do");
  const doing = verbs.length;
  const action = actionOf(roles, verbs[0]);
  const change = roles.one("change");
  const setting = roles.one("reading");
  const value = roles.one("value");
  if (action === null || change === null || setting === null || value === null || doing > 1) return undefined;
  if (!roles.isUsed()) return undefined;
  if (setting !== undefined && !isSetting(setting)) return undefined;
  const named = setting === undefined ? {} : { setting };
  const built = (frame: Act): Built => refusedTarget(frame) ?? { frames: [frame] };
  if (change !== undefined) {
    if (action !== undefined || (value && !("number" in value.value))) return undefined;
    // "raise the blinds", "Jalousien hoch".
    if (value === undefined && setting === undefined && opens(target))
      return built({ kind: "act", action: change === "raise" ? "open" : "close", target });
    if (value === undefined) return built({ kind: "act", action: change, ...named, target });
    if (value.how === "to")
      return built({ kind: "act", action: "set", ...named, value: value.value, target });
    // SAFETY: checked above.
    const by = value.value as { number: number };
    return built({ kind: "act", action: change, ...named, by, target });
  }
  if (value !== undefined) {
    if (value.how === "by" || (action && !["turn_on", "open", "start"].includes(action.is))) return undefined;
    // "auf 40 Prozent" is "to", and no opening by 40 %.
    if (action?.is === "open" && (value.how !== "to" || !isPercent(value.value))) return undefined;
    const kind = setting ?? settingOf(value.value) ?? (action?.is === "open" ? "position" : undefined);
    if (setting === undefined && target.of === "unsaid")
      return { refused: { because: "no_target", action: "set" } };
    return built({
      kind: "act",
      action: "set",
      ...(kind !== undefined && { setting: kind }),
      value: value.value,
      target,
    });
  }
  if (setting !== undefined) return undefined;
  if (action === undefined)
    return doing > 0 || target.of !== "unsaid" ? { refused: { because: "no_action" } } : undefined;
  return built({ kind: "act", action: fitting(action, target), ...or(action, target), target });
}

/** An area alone is no target of an act, and no target is none. */
function refusedTarget(frame: Act): Built {
  const { target, action } = frame;
  const isNamed = "setting" in frame && frame.setting !== undefined && frame.setting !== "mode";
  const isMeant = isNamed || action === "raise" || action === "lower";
  if (target.of !== "place" && target.of !== "unsaid") return undefined;
  return isMeant ? undefined : { refused: { because: "no_target", action } };
}

/** What a particle does beside such a verb: "schließ … ab", "heb … an", "halte … an", "führe … aus". Others do nothing. */
const BESIDE: Readonly<
  Record<Exclude<RoleValues["do"], "any">, Readonly<Partial<Record<Action, Either<Action>>>>>
> = {
  lock: {
    turn_off: { is: "lock" },
    close: { is: "lock" },
    turn_on: { is: "unlock" },
    open: { is: "unlock" },
    lock: { is: "lock" },
    unlock: { is: "unlock" },
  },
  raise: { turn_on: { is: "open" }, open: { is: "open" } },
  lower: { turn_off: { is: "close" }, close: { is: "close" } },
  stop: { turn_on: { is: "pause", or: "stop" }, turn_off: { is: "stop" }, dock: { is: "dock" } },
  run: { turn_on: { is: "start" }, turn_off: { is: "start" }, start: { is: "start" } },
};

function actionOf(roles: Roles, verb: RoleValues["do"] | undefined): Either<Action> | undefined | null {
  const particles = roles.take("particle").map((particle): Either<Action> | undefined => {
    if (verb === undefined || verb === "any") return particle;
    return BESIDE[verb][particle.is];
  });
  const acts = [...roles.take("act"), ...particles.filter((one) => one !== undefined)];
  if (particles.includes(undefined)) return null;
  if (!roles.has("ensure")) return acts.length > 1 ? null : acts[0];
  roles.take("ensure");
  roles.take("be");
  const state = roles.one("state");
  const action = state ? OF_STATE[state.is] : undefined;
  return action === undefined || acts.length > 0 ? null : { is: action };
}

const OPENING: ReadonlySet<ThingType> = new Set(
  THING_TYPES.filter((type) =>
    "cover blind shutter curtain awning window door garage_door gate valve".split(" ").includes(type),
  ),
);

function opens(target: Target): boolean | undefined {
  return target.of === "type" ? OPENING.has(target.type) : undefined;
}

/** Of two acts that are one word, that of the type. */
function fitting<Word>(either: Either<Word>, target: Target): Word {
  return either.or !== undefined && opens(target) === true ? either.or : either.is;
}

function or<Word>(either: Either<Word>, target: Target): { or?: Word } {
  return either.or !== undefined && opens(target) === undefined ? { or: either.or } : {};
}

function isSetting(reading: string): reading is Setting {
  return (SETTINGS as readonly string[]).includes(reading);
}

function isPercent(value: Value): boolean {
  return "bound" in value || ("number" in value && (value.unit === "%" || value.unit === undefined));
}

function settingOf(value: Value): Setting | undefined {
  if ("color" in value) return "color";
  if ("white" in value) return "color_temperature";
  if ("option" in value) return ["low", "medium", "high"].includes(value.option) ? undefined : "mode";
  if (!("number" in value)) return undefined;
  if (value.unit === "K") return "color_temperature";
  return value.unit === "°" || value.unit === "°C" || value.unit === "°F" ? "temperature" : undefined;
}

function question(
  roles: Roles,
  targets: readonly Target[],
  any: boolean,
  targetItems: readonly Item[],
  context: PartContext,
): Built {
  const left = new Roles(roles.items());
  left.take("request");
  const isTold = left.take("show").length > 0;
  const is = left.take("be").length > 0;
  const exists = left.take("exist").length > 0;
  const forms = new Set(left.take("ask"));
  // "tell me if" asks as "is it" does.
  const shows = isTold && !forms.has("yes_no");
  const states = left.take("state");
  const ors = left.take("or").length;
  // "is it on or off?"
  const isOpen = ors === 1 && states.length === 2;
  const state = isOpen ? undefined : states.length > 1 || ors > 0 ? null : states[0];
  const said = left.one("reading");
  const reading = isOpen && said === undefined ? "state" : said;
  const compare = left.one("compare");
  const value = left.one("value");
  const share = left.one("share");
  // "does it exceed 20 degrees?", "s'ouvre-t-il ?" ask how it is now.
  left.take("becomes");
  const [target] = targets;
  if (!left.isUsed() || target === undefined || targets.length > 1) return undefined;
  if (state === null || reading === null || compare === null || value === null) return undefined;
  if (share === null || (share && reading !== "disk" && reading !== "memory")) return undefined;
  // "czy jest włączone czy wyłączone?"
  const form = isOpen && formOf(forms) === "yes_no" ? undefined : formOf(forms);
  if (form === null) return undefined;
  const one = (frame: Frame): Built => ({ frames: [frame] });
  if (compare !== undefined || value !== undefined) {
    if (!compare || !value || !("number" in value.value) || value.how === "by" || state || shows || exists)
      return undefined;
    if (form !== undefined && form !== "yes_no" && form !== "which") return undefined;
    if (reading === undefined && target.of !== "named" && target.of !== "type") return undefined;
    const compared = {
      ...(reading && { reading }),
      ...(share && { share }),
      is: compare,
      value: value.value,
    };
    return one({ kind: "ask", form: form ?? "yes_no", compare: compared, target });
  }
  const devices = devicesOf({ form, shows, exists, state, reading, target });
  if (devices) return one(devices);
  if (exists && form !== "any") return undefined;
  if (state !== undefined && reading === "state")
    return stateQuestion({ form, shows, is, asks: context.hasQuestionMark, any, state, target });
  if (state !== undefined)
    return reading === undefined
      ? stateQuestion({ form, shows, is, asks: context.hasQuestionMark, any, state, target })
      : undefined;
  if (reading === undefined) return undefined;
  if (any && targetItems.length > 0) return { refused: { because: "general", word: "" } };
  if (form !== undefined && form !== "value" && form !== "which") return undefined;
  return one({ kind: "ask", form: "value", reading, target });
}

/** @returns null where two forms are asked for at once */
function formOf(forms: Set<Ask["form"]>): Ask["form"] | undefined | null {
  if (forms.size > 1) forms.delete("value");
  if (forms.size > 1) forms.delete("yes_no");
  return forms.size > 1 ? null : [...forms][0];
}

function devicesOf(asked: {
  form: Ask["form"] | undefined;
  shows: boolean;
  exists: boolean;
  state: Either<State> | undefined;
  reading: string | undefined;
  target: Target;
}): Devices | undefined {
  const { form, shows, exists, state, reading, target } = asked;
  if (target.of !== "type" || target.number === "any" || reading !== undefined) return undefined;
  if (target.number === "one" && form !== "which" && form !== "count") return undefined;
  const isOnline = state?.is === "online" || state?.is === "offline";
  if (state !== undefined && (!isOnline || (target.type !== "device" && target.type !== "machine")))
    return undefined;
  if (state === undefined && !exists && !shows) return undefined;
  if (form !== undefined && form !== "which" && form !== "count" && form !== "value") return undefined;
  if (form === undefined && !shows) return undefined;
  return {
    kind: "devices",
    ...(state && { state: state.is as "online" | "offline" }),
    ...(target.type !== "device" && { type: target.type }),
    ...(target.place && { place: target.place }),
    form: form === "count" ? "count" : "which",
  };
}

/** States of a place, without a type: "is there motion in the garden?" */
const OF_PLACES: ReadonlySet<State> = new Set<State>([
  "motion",
  "no_motion",
  "occupied",
  "smoke",
  "gas",
  "wet",
]);

function stateQuestion(asked: {
  form: Ask["form"] | undefined;
  shows: boolean;
  is: boolean;
  /** A question mark stands at its end. */
  asks: boolean;
  any: boolean;
  state: Either<State>;
  target: Target;
}): Built {
  const { form, shows, is, asks, any, state, target } = asked;
  const one = (form: "yes_no" | "which" | "count" | "any" | "all", of: Target = target): Built => ({
    frames: [{ kind: "ask", form, state: fitting(state, of), ...or(state, of), target: of }],
  });
  // "what is playing on the TV?" asks for its state.
  if (form === "value")
    return state.is === "playing" && target.of !== "unsaid"
      ? { frames: [{ kind: "ask", form: "value", reading: "state", target }] }
      : undefined;
  // A statement without a verb. Its words may also be an act, which was not asked for.
  if (form === undefined && !is && !asks && !shows && !any) return { refused: { because: "no_action" } };
  if (target.of === "type") {
    const many: Target = target.number === "one" ? { ...target, number: "many" } : target;
    if (form === "which" || (form === undefined && shows)) return one("which", many);
    if (form === "count") return one("count", many);
    if (form === "any" || any) return one("any", { ...target, number: "any" });
    if (!is && !asks && form === undefined) return undefined;
    if (target.number === "all" || target.number === "many" || form === "all") return one("all");
    return is || asks || form === "yes_no" ? one("yes_no") : undefined;
  }
  if (target.of === "everything") {
    if (form === "which" || shows) return one("which");
    return is || asks || form !== undefined ? one("all") : undefined;
  }
  if (target.of === "place" || target.of === "unsaid")
    return OF_PLACES.has(state.is) &&
      ((form === undefined && (is || asks)) || form === "any" || form === "yes_no")
      ? one("any")
      : undefined;
  return form === "yes_no" || form === "any" || (form === undefined && (is || asks))
    ? one("yes_no")
    : undefined;
}
