/** Reads the act of a part of a sentence. Each role of the part is used, or the part means nothing. Pure. */
import {
  type Act,
  type Action,
  SETTINGS,
  type Setting,
  type State,
  type Target,
  type ThingType,
  type Value,
} from "./frame.ts";
import { type Built, fitting, opens, or, Roles } from "./part-roles.ts";
import type { Either, RoleValues } from "./roles.ts";

const OF_STATE: Readonly<Partial<Record<State, Action>>> = {
  on: "turn_on",
  off: "turn_off",
  open: "open",
  closed: "close",
  locked: "lock",
  unlocked: "unlock",
  docked: "dock",
  running: "start",
  paused: "pause",
};

export function act(given: Roles, target: Target): Built {
  const roles = new Roles(given.items());
  const built = (frame: Act): Built => refusedTarget(frame) ?? { frames: [frame] };
  roles.take("request");
  const verbs = roles.take("do");
  const doing = verbs.length;
  const action = actionOf(roles, verbs[0]);
  const change = roles.one("change");
  const said = roles.one("reading");
  const value = roles.one("value");
  if (action === null || change === null || said === null || value === null || doing > 1) return undefined;
  // "pause the robot cleaning".
  if (action && ["start", "stop", "pause"].includes(action.is) && !roles.has("value")) {
    const state = roles.one("state");
    if (state === null || (state && !GOING.has(state.is))) return undefined;
  }
  if (!roles.isUsed()) return undefined;
  const isToggled =
    action?.is === "toggle" || (verbs[0] === "flip" && action === undefined && change === undefined);
  if (isToggled && value === undefined && (said === "state" || (said === "position" && action)))
    return built({ kind: "act", action: "toggle", target });
  // "reduce the light's power".
  const isLight = target.of === "type" && target.type === "light" && change !== undefined;
  const setting = isLight && said === "power" ? "brightness" : said;
  if (setting !== undefined && !isSetting(setting)) return undefined;
  const named = setting === undefined ? {} : { setting };
  // "change the colour", "switch up the colour": which one it is does not count.
  const isRecolored = setting === "color" && value === undefined && doing > 0;
  if (change !== undefined && !isRecolored) {
    if (
      action !== undefined ||
      verbs[0] === "power" ||
      (value && !("number" in value.value || "bound" in value.value))
    )
      return undefined;
    // "raise the blinds", "Jalousien hoch".
    if (value === undefined && setting === undefined && opens(target))
      return built({ kind: "act", action: change === "raise" ? "open" : "close", target });
    if (value === undefined) return built({ kind: "act", action: change, ...named, target });
    if (value.how === "to")
      return built({ kind: "act", action: "set", ...named, value: value.value, target });
    return "number" in value.value
      ? built({ kind: "act", action: change, ...named, by: value.value, target })
      : undefined;
  }
  if (value !== undefined) {
    if (value.how === "by" || (action && !["turn_on", "open", "start"].includes(action.is))) return undefined;
    // "auf 40 Prozent" is "to", and no opening by 40 %.
    if (action?.is === "open" && (value.how !== "to" || !isPercent(value.value))) return undefined;
    const valued = isWhite(setting, value.value) ? "color_temperature" : (setting ?? settingOf(value.value));
    if (setting !== undefined && valued !== undefined && !fits(valued, value.value)) return undefined;
    const kind = valued ?? (action?.is === "open" ? "position" : undefined);
    // A colour is one of lights: "change to blue".
    const isOwn = "color" in value.value && (action ? action.is === "turn_on" : doing > 0);
    if ("color" in value.value && target.of === "type" && target.type !== "light" && target.type !== "device")
      return undefined;
    // "open the kitchen to 50 %" says no more of what is meant than "open the kitchen".
    const isUnclear = valued === undefined && target.of === "place";
    if (isUnclear || (setting === undefined && target.of === "unsaid" && !isOwn))
      return { refused: { because: "no_target", action: "set" } };
    return built({
      kind: "act",
      action: "set",
      ...(kind !== undefined && { setting: kind }),
      value: value.value,
      target,
    });
  }
  if (isRecolored && action === undefined)
    return built({ kind: "act", action: "set", setting, value: { color: "other" }, target });
  if (setting !== undefined) return undefined;
  // "change to the scene Party".
  if (action === undefined && doing > 0 && target.of === "named" && target.type === "scene")
    return built({ kind: "act", action: "turn_on", target });
  if (action === undefined)
    return doing > 0 || target.of !== "unsaid" ? { refused: { because: "no_action" } } : undefined;
  const done = fitting(action, target);
  const switches = done === "open" || done === "close" ? switchOf(done, target) : undefined;
  return built({ kind: "act", action: switches ?? done, ...or(action, target), target });
}

const SWITCHED: ReadonlySet<ThingType> = new Set<ThingType>(["light", "plug", "fan", "television"]);

/** "open the light", as some languages say it. */
function switchOf(action: "open" | "close", target: Target): Action | undefined {
  if (target.of !== "type" || !SWITCHED.has(target.type)) return undefined;
  return action === "open" ? "turn_on" : "turn_off";
}

/** An area alone is no target of an act, and no target is none. */
function refusedTarget(frame: Act): Built {
  const { target, action } = frame;
  const isNamed = "setting" in frame && frame.setting !== undefined && frame.setting !== "mode";
  const isMeant = isNamed || action === "raise" || action === "lower";
  if (target.of !== "place" && target.of !== "unsaid") return undefined;
  return isMeant ? undefined : { refused: { because: "no_target", action } };
}

/** The acts of particles beside such a verb: "schließ … ab", "heb … an", "halte … an", "führe … aus". Others do nothing. */
const BESIDE: Readonly<
  Record<Exclude<RoleValues["do"], "any" | "flip">, Readonly<Partial<Record<Action, Either<Action>>>>>
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
  power: { turn_on: { is: "turn_on" }, turn_off: { is: "turn_off" }, close: { is: "close" } },
};

/** What begins, pauses and stops. */
const GOING: ReadonlySet<State> = new Set<State>(["running", "cleaning", "playing"]);

function actionOf(roles: Roles, verb: RoleValues["do"] | undefined): Either<Action> | undefined | null {
  const said = roles.take("particle");
  // "flip the fan on or off".
  if (said.length === 2 && roles.has("or")) {
    roles.take("or");
    const isBoth = said.some(({ is }) => is === "turn_on") && said.some(({ is }) => is === "turn_off");
    return isBoth && !roles.has("act") && !roles.has("ensure") ? { is: "toggle" } : null;
  }
  const particles = said.map((particle): Either<Action> | undefined => {
    if (verb === undefined || verb === "any" || verb === "flip") return particle;
    return BESIDE[verb][particle.is];
  });
  if (particles.includes(undefined)) return null;
  const verbs = roles.take("act");
  const acts = [...verbs, ...particles.filter((one) => one !== undefined)];
  if (!roles.has("ensure")) {
    if (verbs.length > 1) return null;
    // "toggle the plug on" switches it on, and "return it to its station" says it twice.
    const others = acts.length > 1 ? acts.filter(({ is }) => is !== "toggle") : acts;
    const [action] = others;
    if (others.some(({ is }) => is !== action?.is)) return null;
    return action ?? (verb === "any" ? goingOn(roles) : undefined);
  }
  roles.take("ensure");
  roles.take("be");
  const state = roles.one("state");
  const ensured = state ? OF_STATE[state.is] : undefined;
  return ensured === undefined || acts.length > 0 ? null : { is: ensured };
}

/** "get the vacuum cleaning", "set the coffee machine running", "have the lights turned off". */
function goingOn(roles: Roles): Either<Action> | undefined {
  if (!roles.has("state") || roles.has("value") || roles.has("change")) return undefined;
  const state = roles.one("state");
  if (state && (state.is === "on" || state.is === "off"))
    return { is: state.is === "on" ? "turn_on" : "turn_off" };
  return state && GOING.has(state.is) ? { is: "start" } : undefined;
}

function isSetting(reading: string): reading is Setting {
  return (SETTINGS as readonly string[]).includes(reading);
}

function isPercent(value: Value): boolean {
  return "bound" in value || ("number" in value && (value.unit === "%" || value.unit === undefined));
}

/** "set the lamp's temperature to 2700", "to cold white". */
function isWhite(setting: Setting | undefined, value: Value): boolean {
  return setting === "temperature" && ("white" in value || ("number" in value && value.number >= KELVIN_MIN));
}

const KELVIN_MIN = 1_000;

/** "bright white" is no brightness. */
function fits(setting: Setting, value: Value): boolean {
  if ("color" in value) return setting === "color";
  return !("white" in value) || setting === "color" || setting === "color_temperature";
}

function settingOf(value: Value): Setting | undefined {
  if ("color" in value) return "color";
  if ("white" in value) return "color_temperature";
  if ("option" in value) return ["low", "medium", "high"].includes(value.option) ? undefined : "mode";
  if (!("number" in value)) return undefined;
  if (value.unit === "K") return "color_temperature";
  return value.unit === "°" || value.unit === "°C" || value.unit === "°F" ? "temperature" : undefined;
}
