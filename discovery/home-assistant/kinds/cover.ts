/** `cover` and `valve`: they move, which takes time, and may report where they are. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { withSteps } from "../../model/entity/draft.ts";
import type { Command, Expectation, ServiceCall, Values } from "../../model/entity/entity.ts";
import { samePosition } from "../../model/entity/fit.ts";
import { plain, withUnit } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const STATES = ["open", "opening", "closed", "closing"];
const MOVING = ["opening", "closing"];
const DANGEROUS = ["garage", "gate", "door"];
const OPEN = 1;
const CLOSE = 2;
const SET_POSITION = 4;
const STOP = 8;
const SET_TILT = 128;

export function cover(draft: HomeAssistantDraft): void {
  if (DANGEROUS.includes(draft.class ?? "")) draft.danger = `it is a ${draft.class}`;
  movement(draft);
  if (draft.can(SET_TILT)) {
    draft.numberSlot("tilt", "current_tilt_position");
    draft.reading("tilt", withUnit("%"), { label: "tilt", unit: "%" });
    position(draft, "set_tilt", "tilt", "Tilt it. 0 = closed, 100 = open.", (tilt_position) =>
      draft.call("set_cover_tilt_position", { tilt_position }),
    );
  }
}

export function valve(draft: HomeAssistantDraft): void {
  draft.danger = "it is a valve";
  movement(draft);
}

function movement(draft: HomeAssistantDraft): void {
  draft.stateSlot("state", (state) => STATES.find((one) => one === state));
  draft.reading("state", plain);
  const hasPosition = draft.can(SET_POSITION);
  if (hasPosition) {
    draft.numberSlot("position", "current_position");
    draft.reading("position", withUnit("%"), { label: "position", unit: "%" });
    draft.details.push("position");
  }
  const end = (at: number, state: string): Expectation["met"] =>
    function met(fresh, before) {
      if (isMoving(fresh)) return false;
      return hasPosition ? isAt("position", at, fresh, before) : fresh("state")?.value === state;
    };
  if (draft.can(OPEN)) move(draft, "open", "Open it.", "open", end(100, "open"));
  if (draft.can(CLOSE)) move(draft, "close", "Close it.", "closed", end(0, "closed"));
  if (draft.can(STOP))
    move(
      draft,
      "stop",
      "Stop its movement.",
      "stopped",
      (fresh, before) => isMoving(before) && !isMoving(fresh),
    );
  if (hasPosition)
    position(draft, "set_position", "position", "Move it. 0 = closed, 100 = open.", (at) =>
      draft.call(`set_${draft.kind}_position`, { position: at }),
    );
}

function move(
  draft: HomeAssistantDraft,
  action: string,
  description: string,
  words: string,
  met: Expectation["met"],
): void {
  add(draft, action, description, {}, () => ({
    step: draft.call(`${action}_${draft.kind}`),
    // "open" is said of a cover that is only a bit open, so its position is told where it has one.
    expect: { slots: draft.reports("position") ? ["position"] : ["state"], words, met },
  }));
}

function position(
  draft: HomeAssistantDraft,
  action: string,
  slot: string,
  description: string,
  step: (at: number) => ServiceCall,
): void {
  add(draft, action, description, { [slot]: { type: "integer", minimum: 0, maximum: 100 } }, (at) => ({
    step: step(at),
    expect: {
      slots: [slot],
      words: `${slot} ${at} %`,
      met: (fresh, before) => !isMoving(fresh) && isAt(slot, at, fresh, before),
    },
  }));
}

function add(
  draft: HomeAssistantDraft,
  action: string,
  description: string,
  parameters: Command["parameters"],
  planned: (at: number) => { step: ServiceCall; expect: Expectation },
): void {
  const [name] = Object.keys(parameters);
  draft.commands.push({
    action,
    description,
    parameters,
    required: name === undefined ? [] : [name],
    idempotent: true,
    wait: "cover",
    targets: draft.targets,
    run: (asked, before) => {
      const { step, expect } = planned(name === undefined ? 0 : Number(asked[name]));
      // One that stands still says nothing when it is stopped.
      const isJudged = draft.reports("state") && (action !== "stop" || isMoving(before));
      return withSteps([step], isJudged ? [expect] : [], isJudged ? [] : [expect.words]);
    },
  });
}

function isMoving(values: Values): boolean {
  return MOVING.includes(String(values("state")?.value));
}

function isAt(slot: string, at: number, fresh: Values, before: Values): boolean {
  const value = fresh(slot)?.value;
  return value instanceof Quantity && samePosition(0, 100)(at, value, before(slot)?.value);
}
