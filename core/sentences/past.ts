/** What a question about the past asks: one state of one thing, in one part of time. Each of its roles is used, or it means nothing. Pure. */
import type { Frames, Past, PastPeriod, State, Target } from "./frame.ts";
import { fitting, opens, Roles } from "./part-roles.ts";
import type { BuiltParts } from "./parts.ts";
import type { Either, Item } from "./roles.ts";
import { TARGET_ROLES, targetOf } from "./target.ts";

/** States of a place, without a thing: "when was there motion in the hall last?" */
const OF_PLACES: ReadonlySet<State> = new Set<State>(["motion", "occupied", "smoke", "gas", "wet"]);

const OVER: ReadonlySet<PastPeriod> = new Set<PastPeriod>([
  "yesterday",
  "last_night",
  "day",
  "last_week",
  "last_month",
]);

export function past(items: readonly Item[]): BuiltParts {
  const isTarget = ({ role }: Item) => TARGET_ROLES.has(role);
  const found = targetOf(items.filter(isTarget));
  const [target, other] = found?.targets ?? [];
  const left = new Roles(items.filter((item) => !isTarget(item)));
  for (const role of ["request", "show", "be", "becomes"] as const) left.take(role);
  const has = (role: "was" | "latest" | "tenseless") => left.take(role).length > 0;
  const [was, latest, isTenseless] = [has("was"), has("latest"), has("tenseless")];
  const form = left.one("past");
  const states = left.take("state");
  const period = left.one("period");
  const [state] = states;
  // "Wann ist sie fertig?", "什么时候结束？" ask of what comes, also with "today".
  if (isTenseless && !was && !latest && !(period && OVER.has(period))) return undefined;
  if (!left.isUsed() || !form || !state || period === null || !isSame(states)) return undefined;
  if (!target || other || found?.any || !isOne(target, state)) return undefined;
  const frame: Past = {
    kind: "past",
    // "wie lange ist sie gestern gelaufen" asks how long it was so.
    form: form === "since" && period !== undefined ? "duration" : form,
    state: fitting(state, target),
    // A fridge is switched on, and its door is opened: its readings tell which of both is meant.
    ...(state.or !== undefined && opens(target) !== true && { or: state.or }),
    target,
    ...(period !== undefined && { period }),
  };
  return { meanings: [[frame]] };
}

/** "Hoy" and "oggi" may be fillers too: of two meanings the one that takes them for a part of time is meant. */
export function withPeriod(meanings: readonly Frames[]): readonly Frames[] {
  const isWithout = (frames: Frames) => frames.some((one) => one.kind === "past" && one.period === undefined);
  const others = meanings.filter((frames) => !isWithout(frames));
  const hasPeriod = others.some((frames) => frames.some(({ kind }) => kind === "past"));
  return hasPeriod ? others : meanings;
}

/** "wann lief … gelaufen" says it twice. */
function isSame(states: readonly Either<State>[]): boolean {
  return states.every(({ is }) => is === states[0]?.is);
}

/** Figures of several things are no answer to one question. */
function isOne(target: Target, { is }: Either<State>): boolean {
  if (target.of === "named") return true;
  if (target.of === "type") return target.number === "one";
  return target.of === "earlier" ? !target.many : target.of === "place" && OF_PLACES.has(is);
}
