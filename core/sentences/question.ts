/** What a part of a sentence asks. Each of its roles is used, or it means nothing. Pure. */
import type { Ask, Devices, Frame, State, Target } from "./frame.ts";
import { type Built, fitting, or, Roles } from "./part-roles.ts";
import type { Either, Item, Role } from "./roles.ts";

export function question(
  roles: Roles,
  targets: readonly Target[],
  any: boolean,
  targetItems: readonly Item[],
  hasQuestionMark: boolean,
): Built {
  const left = new Roles(roles.items());
  left.take("request");
  const isTold = left.take("show").length > 0;
  const is = left.take("be").length > 0;
  const exists = left.take("exist").length > 0;
  const forms = new Set(left.take("ask"));
  const places = (role: Role) => roles.items().flatMap((item) => (item.role === role ? item.at : []));
  // "What is on my list?"
  const isShownLast = Math.max(...places("show")) > Math.min(...places("state"));
  // "tell me if" asks as "is it" does.
  const shows = isTold && !forms.has("yes_no");
  const states = left.take("state");
  const ors = left.take("or").length;
  // "is it on or off?"
  const said = left.one("reading");
  const isOpen = ors === 1 && (states.length === 2 || (states.length === 1 && said === "state"));
  const state = isOpen ? undefined : states.length > 1 || ors > 0 ? null : states[0];
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
    return stateQuestion({ form, shows, isShownLast, is, asks: hasQuestionMark, any, state, target });
  if (state !== undefined)
    return reading === undefined
      ? stateQuestion({ form, shows, isShownLast, is, asks: hasQuestionMark, any, state, target })
      : undefined;
  // "Show me the desk lamp."
  if (reading === undefined && isTold && target.of === "named" && !any && (form ?? "value") === "value")
    return one({ kind: "ask", form: "value", reading: "state", target });
  if (reading === undefined) return undefined;
  if (any && targetItems.length > 0) return { refused: { because: "general", word: "" } };
  if (form !== undefined && form !== "value" && form !== "which") return undefined;
  if (reading === "uptime" && !hasUptime(target)) return undefined;
  return one({ kind: "ask", form: "value", reading, target });
}

/** "Wie lange läuft die Waschmaschine noch?" asks for what is left. */
function hasUptime(target: Target): boolean {
  return target.of !== "type" || target.type === "machine" || target.type === "device";
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

/** States by which things are looked for without a type: "what is open?", "is anything on in the kitchen?", "which batteries are low?" */
const OF_ANYTHING: ReadonlySet<State> = new Set<State>([
  "on",
  "off",
  "open",
  "closed",
  "locked",
  "unlocked",
  "low_battery",
  "charging",
  "online",
  "offline",
  "heating",
  "cooling",
  "wet",
]);

/** @returns undefined: it asks for no things of a state */
function whichOfAll(
  form: Ask["form"] | undefined,
  { is: state }: Either<State>,
  target: Target,
): { form: "which" | "count" | "any"; target: Target } | undefined {
  if (target.of !== "unsaid" && target.of !== "place") return undefined;
  const isYesNo = form === undefined || form === "yes_no";
  // "Is a battery low?" is of any, where "is it on?" is of none.
  const isLow = isYesNo && state === "low_battery";
  if (!OF_ANYTHING.has(state) || form === "all" || (isYesNo && !isLow)) return undefined;
  const whole: Target = { of: "everything", ...(target.of === "place" && { place: target.place }) };
  return { form: isLow || form === "any" ? "any" : form === "count" ? "count" : "which", target: whole };
}

function stateQuestion(asked: {
  form: Ask["form"] | undefined;
  shows: boolean;
  /** What shows is said behind the state. */
  isShownLast: boolean;
  is: boolean;
  /** A question mark stands at its end. */
  asks: boolean;
  any: boolean;
  state: Either<State>;
  target: Target;
}): Built {
  const { form, shows, isShownLast, is, asks, any, state, target } = asked;
  const one = (form: "yes_no" | "which" | "count" | "any" | "all", of: Target = target): Built => ({
    frames: [{ kind: "ask", form, state: fitting(state, of), ...or(state, of), target: of }],
  });
  const isAsked = !isShownLast && (is || asks || form !== undefined);
  const all = isAsked ? whichOfAll(form, state, target) : undefined;
  if (all && (state.is === "online" || state.is === "offline")) {
    const place = "place" in all.target && all.target.place ? { place: all.target.place } : {};
    const form = all.form === "count" ? "count" : "which";
    return { frames: [{ kind: "devices", state: state.is, ...place, form }] };
  }
  if (all) return one(all.form, all.target);
  // "what is playing on the speaker?"
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
