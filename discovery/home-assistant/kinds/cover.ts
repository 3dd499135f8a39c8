/** `cover` and `valve`: they move, which takes time, and may report where they are. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { withSteps } from "../../model/entity/draft.ts";
import type { Command, Expectation, ServiceCall, Values } from "../../model/entity/entity.ts";
import { samePosition } from "../../model/entity/fit.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const STATES = ["open", "opening", "closed", "closing"];
const MOVING = ["opening", "closing"];
const DANGEROUS = ["garage", "gate", "door", "damper"];
const OPEN = 1;
const CLOSE = 2;
const SET_POSITION = 4;
const STOP = 8;
const OPEN_TILT = 16;
const CLOSE_TILT = 32;
const SET_TILT = 128;
/** A motor that counts its turns ends some percents beside its position. */
const NEAR_PERCENTS = 3;

type Way = { slot: "position" | "tilt"; at: number; state?: string };

export function cover(draft: HomeAssistantDraft): void {
  if (DANGEROUS.includes(draft.class ?? "")) draft.danger = `it is a ${draft.class}`;
  movement(draft);
  if (![OPEN_TILT, CLOSE_TILT, SET_TILT].some((bit) => draft.can(bit))) return;
  placeSlot(draft, "tilt", "current_tilt_position");
  if (draft.can(OPEN_TILT))
    move(draft, "open_tilt", "Open its slats.", "tilt 100 %", { slot: "tilt", at: 100 });
  if (draft.can(CLOSE_TILT))
    move(draft, "close_tilt", "Close its slats.", "tilt 0 %", { slot: "tilt", at: 0 });
  if (draft.can(SET_TILT))
    place(draft, "set_tilt", "tilt", "Tilt it. 0 = closed, 100 = open.", (tilt_position) =>
      draft.call("set_cover_tilt_position", { tilt_position }),
    );
}

export function valve(draft: HomeAssistantDraft): void {
  draft.danger = "it is a valve";
  movement(draft);
}

function movement(draft: HomeAssistantDraft): void {
  draft.stateSlot("state", (state) => STATES.find((one) => one === state));
  draft.reading("state", plain);
  // Also one that cannot be sent to a position may report where it is.
  placeSlot(draft, "position", "current_position");
  if (draft.can(SET_POSITION)) draft.details.push("position");
  if (draft.can(OPEN)) move(draft, "open", "Open it.", "open", { slot: "position", at: 100, state: "open" });
  if (draft.can(CLOSE))
    move(draft, "close", "Close it.", "closed", { slot: "position", at: 0, state: "closed" });
  if (draft.can(STOP)) stop(draft);
  if (draft.can(SET_POSITION))
    place(draft, "set_position", "position", "Move it. 0 = closed, 100 = open.", (position) =>
      draft.call(`set_${draft.kind}_position`, { position }),
    );
}

function placeSlot(draft: HomeAssistantDraft, slot: "position" | "tilt", attribute: string): void {
  draft.numberSlot(slot, attribute);
  draft.reading(slot, withUnit("%"), { label: slot, unit: "%", isThere: (value) => value(slot) !== null });
}

/** "open" is said of a cover that is only a bit open, so its position counts where it reports one. */
function move(draft: HomeAssistantDraft, action: string, description: string, words: string, way: Way): void {
  const service = action.endsWith("_tilt")
    ? `${action.replace("_tilt", "")}_cover_tilt`
    : `${action}_${draft.kind}`;
  add(draft, action, description, {}, (_, before) => {
    const reportsPlace = before(way.slot)?.value instanceof Quantity;
    const met: Expectation["met"] = (fresh, former) => {
      if (isMoving(fresh)) return false;
      if (fresh(way.slot)?.value instanceof Quantity) return isAt(way.slot, way.at, fresh, former);
      return way.state !== undefined && fresh("state")?.value === way.state;
    };
    return {
      step: draft.call(service),
      expect:
        reportsPlace || way.state !== undefined
          ? { slots: reportsPlace ? [way.slot] : ["state"], words, met }
          : undefined,
      words,
    };
  });
}

/** One that stands still says nothing when it is stopped. */
function stop(draft: HomeAssistantDraft): void {
  add(draft, "stop", "Stop its movement.", {}, (_, before) => ({
    step: draft.call(`stop_${draft.kind}`),
    expect: isMoving(before)
      ? { slots: ["state"], words: "stopped", met: (fresh) => !isMoving(fresh) }
      : undefined,
    words: "stopped",
  }));
}

function place(
  draft: HomeAssistantDraft,
  action: string,
  slot: "position" | "tilt",
  description: string,
  step: (at: number) => ServiceCall,
): void {
  const parameters: Command["parameters"] = { [slot]: { type: "integer", minimum: 0, maximum: 100 } };
  add(draft, action, description, parameters, (at) => ({
    step: step(at),
    expect: {
      slots: [slot],
      words: `${slot} ${at} %`,
      met: (fresh, before) => !isMoving(fresh) && isAt(slot, at, fresh, before),
    },
    words: `${slot} ${at} %`,
  }));
}

type Planned = { step: ServiceCall; expect: Expectation | undefined; words: string };

function add(
  draft: HomeAssistantDraft,
  action: string,
  description: string,
  parameters: Command["parameters"],
  planned: (at: number, before: Values) => Planned,
): void {
  const [name] = Object.keys(parameters);
  draft.commands.push({
    action,
    description,
    parameters,
    required: name === undefined ? [] : [name],
    idempotent: true,
    ...(action === "stop" && { harmless: true }),
    wait: "cover",
    targets: draft.targets,
    run: (asked, before) => {
      const { step, expect, words } = planned(name === undefined ? 0 : Number(asked[name]), before);
      const expects = expect && draft.reports("state") ? [expect] : [];
      return withSteps([step], expects, expects.length > 0 ? [] : [words]);
    },
  });
}

function isMoving(values: Values): boolean {
  return MOVING.includes(String(values("state")?.value));
}

function isAt(slot: string, at: number, fresh: Values, before: Values): boolean {
  const value = fresh(slot)?.value;
  return value instanceof Quantity && samePosition(0, 100, NEAR_PERCENTS)(at, value, before(slot)?.value);
}
