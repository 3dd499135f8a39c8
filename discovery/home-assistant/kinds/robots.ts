/** `vacuum` and `lawn_mower`: they start, pause, stop and go home. */
import { withSteps } from "../../model/entity/draft.ts";
import type { Expectation, SlotValue } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { choice, notAnOption } from "../../model/entity/schemas.ts";
import { plain } from "../../model/entity/words.ts";
import { chosen } from "./choices.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const FAN_SPEED = 32;
const CLEAN_AREA = 16_384;
const VACUUM_STATES = ["idle", "docked", "error", "paused", "returning", "cleaning"];
const MOWER_STATES = ["error", "paused", "mowing", "docked", "returning", "idle"];
/** One on its way home has obeyed. */
const HOME = ["docked", "returning"];

export function vacuum(draft: HomeAssistantDraft): void {
  draft.stateSlot("state", (state) => VACUUM_STATES.find((one) => one === state));
  draft.reading("state", plain);
  act(draft, 8_192, "start", "Start cleaning.", "start", ["cleaning"]);
  act(draft, 4, "pause", "Pause cleaning.", "pause", ["paused", "idle"]);
  act(draft, 8, "stop", "Stop cleaning.", "stop", ["idle", "paused", "docked"]);
  act(draft, 16, "dock", "Send it home.", "return_to_base", HOME);
  act(draft, 512, "locate", "Let it make itself heard.", "locate", []);
  act(draft, 1_024, "clean_spot", "Clean where it is.", "clean_spot", ["cleaning"]);
  cleanArea(draft);
  const speeds = draft.can(FAN_SPEED) ? draft.list("fan_speed_list") : [];
  const speed = chosen(draft, speeds, { name: "fan_speed", label: "fan speed" }, (fan_speed) =>
    draft.call("set_fan_speed", { fan_speed }),
  );
  draft.addSettings("Set its suction.", [speed], draft.targets);
}

/** A person has told Home Assistant which rooms of its map are which areas. */
function cleanArea(draft: HomeAssistantDraft): void {
  const { cleanedAreas = [] } = draft.entry;
  if (!draft.can(CLEAN_AREA) || cleanedAreas.length === 0) return;
  const names = cleanedAreas.map(({ name }) => name);
  draft.commands.push({
    action: "clean_area",
    description: "Clean one area.",
    parameters: { area: choice(names) },
    required: ["area"],
    idempotent: true,
    wait: "vacuum",
    targets: draft.targets,
    run: ({ area }) => {
      const found = cleanedAreas.find(({ name }) => name === area);
      if (!found) return { error: notAnOption("area", names) };
      const step = draft.call("clean_area", { cleaning_area_id: [found.id] });
      const isReported = draft.reports("state");
      // Which area it cleans is nowhere reported.
      return withSteps(
        [step],
        isReported ? [failing(draft.expectation("state", "cleaning", "cleaning", same))] : [],
        isReported ? [] : ["cleaning"],
      );
    },
  });
}

/** It says "error" for itself where it cannot go on. */
function failing(expect: Expectation): Expectation {
  return { ...expect, fails: (fresh) => fresh("state")?.value === "error" };
}

export function lawnMower(draft: HomeAssistantDraft): void {
  draft.danger = "it mows";
  draft.stateSlot("state", (state) => MOWER_STATES.find((one) => one === state));
  draft.reading("state", plain);
  act(draft, 1, "start", "Start mowing.", "start_mowing", ["mowing"]);
  act(draft, 2, "pause", "Pause mowing.", "pause", ["paused"]);
  act(draft, 4, "dock", "Send it home.", "dock", HOME);
  act(draft, 8, "stop", "Stop it.", "stop", ["idle", "paused", "docked"]);
}

function act(
  draft: HomeAssistantDraft,
  bit: number,
  action: string,
  description: string,
  service: string,
  ends: readonly string[],
): void {
  if (!draft.can(bit)) return;
  const words = ends[0] ?? action;
  draft.commands.push({
    action,
    description,
    parameters: {},
    required: [],
    idempotent: true,
    wait: "vacuum",
    targets: draft.targets,
    ...(action !== "start" && { harmless: true }),
    run: () => {
      const isReported = ends.length > 0 && draft.reports("state");
      const is = (_: unknown, value: SlotValue) => ends.includes(String(value));
      const expects = isReported ? [failing(draft.expectation("state", undefined, words, is))] : [];
      return withSteps([draft.call(service)], expects, isReported ? [] : [words]);
    },
  });
}
