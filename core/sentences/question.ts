/** What a part of a sentence asks. Each of its roles is used, or it means nothing. Pure. */
import type { Ask, Devices, Frame, State, Target } from "./frame.ts";
import { type Built, fitting, or, Roles } from "./part-roles.ts";
import type { Either, Item } from "./roles.ts";

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
    return stateQuestion({ form, shows, is, asks: hasQuestionMark, any, state, target });
  if (state !== undefined)
    return reading === undefined
      ? stateQuestion({ form, shows, is, asks: hasQuestionMark, any, state, target })
      : undefined;
  // "Show me the desk lamp."
  if (reading === undefined && isTold && target.of === "named" && !any && (form ?? "value") === "value")
    return one({ kind: "ask", form: "value", reading: "state", target });
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
