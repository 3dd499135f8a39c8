/** `light`: one call has all that is asked for. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { withSteps } from "../../model/entity/draft.ts";
import type { Expectation, Parameter, Parameters, SlotValue } from "../../model/entity/entity.ts";
import { nearKelvin, same, sameOnScale } from "../../model/entity/fit.ts";
import { choice, notAnOption } from "../../model/entity/schemas.ts";
import { onOffText, plain, withUnit } from "../../model/entity/words.ts";
import { nearHue, toHs } from "./colour.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

const SCALE = 255;
const EFFECT = 4;
const TRANSITION = 32;
const TRANSITION_MAX_S = 60;
const WITHOUT_BRIGHTNESS = ["onoff", "unknown"];
const COLOURED = ["hs", "xy", "rgb", "rgbw", "rgbww"];

export function light(draft: HomeAssistantDraft): void {
  const modes = draft.list("supported_color_modes");
  const hasBrightness = modes.some((mode) => !WITHOUT_BRIGHTNESS.includes(mode));
  const hasColour = modes.some((mode) => COLOURED.includes(mode));
  const kelvin = {
    minimum: draft.number("min_color_temp_kelvin", 2_000),
    maximum: draft.number("max_color_temp_kelvin", 6_535),
  };
  const hasKelvin = modes.includes("color_temp") && kelvin.minimum <= kelvin.maximum;
  const effects = draft.can(EFFECT) ? draft.list("effect_list") : [];
  draft.stateSlot("on", onOff);
  draft.reading("on", onOffText);
  // A light that is off has none of these, and one in white has no colour.
  const shown = (slot: string, label: string) => ({
    label,
    isThere: (value: (name: string) => SlotValue | undefined) =>
      value("on") !== false && value(slot) !== null,
  });
  const parameters: Record<string, Parameter> = {
    on: { type: "boolean", description: "true: on, false: off" },
  };
  if (hasBrightness) {
    draft.slot("brightness", ({ attributes: { brightness } }) => {
      if (typeof brightness !== "number" || brightness <= 0) return null;
      return Quantity.of(Math.min(100, Math.max(1, Math.round((brightness * 100) / SCALE))), brightness);
    });
    draft.reading("brightness", withUnit("%"), { ...shown("brightness", "brightness"), unit: "%" });
    parameters.brightness_pct = { type: "integer", minimum: 1, maximum: 100, description: "percent" };
    draft.details.push("brightness");
  }
  if (hasKelvin) {
    draft.numberSlot("temperature", "color_temp_kelvin");
    draft.reading("temperature", withUnit("K"), { ...shown("temperature", "colour temperature"), unit: "K" });
    parameters.kelvin = { type: "integer", ...kelvin, description: "low is warm white" };
    draft.details.push("colour temperature");
  }
  if (hasColour) {
    draft.slot("colour", ({ attributes: { color_mode, hs_color } }) =>
      COLOURED.includes(String(color_mode)) && isPair(hs_color) ? hs_color : null,
    );
    draft.reading("colour", hueText, shown("colour", "colour"));
    const part = { type: "integer", minimum: 0, maximum: 255 } as const;
    parameters.rgb = {
      type: "array",
      items: part,
      minItems: 3,
      maxItems: 3,
      description: "red, green, blue",
    };
    draft.details.push("colour");
  }
  if (effects.length > 0) {
    draft.choiceSlot("effect", "effect", effects);
    draft.reading("effect", plain, shown("effect", "effect"));
    parameters.effect = choice(effects);
  }
  if (draft.can(TRANSITION))
    parameters.transition_s = {
      type: "number",
      minimum: 0,
      maximum: TRANSITION_MAX_S,
      description: "seconds that the change takes",
    };
  draft.commands.push({
    action: "set",
    description: "Switch it on or off, or change its light. Everything but on: false switches it on.",
    parameters,
    required: [],
    anyOf: true,
    idempotent: true,
    lasting: true,
    wait: "value",
    ...(draft.can(TRANSITION) && { extraMs: TRANSITION_MAX_S * 1_000 }),
    targets: draft.targets,
    run: (asked) => {
      const wrong = wrongSet(asked, effects);
      if (wrong !== undefined) return { error: wrong };
      const { on, brightness_pct, kelvin: wanted, rgb, effect, transition_s } = asked;
      const data = Object.fromEntries(
        Object.entries({
          brightness_pct,
          color_temp_kelvin: wanted,
          rgb_color: rgb,
          effect,
          transition: transition_s,
        }).filter(([, value]) => value !== undefined),
      );
      const expects = expectationsOf(draft, asked);
      const run = withSteps(
        [draft.call(on === false ? "turn_off" : "turn_on", data)],
        draft.isAssumed ? [] : expects,
        draft.isAssumed ? expects.map(({ words }) => words) : [],
      );
      return "error" in run ? run : { ...run, extraMs: Number(transition_s ?? 0) * 1_000 };
    },
  });
}

function wrongSet(asked: Parameters, effects: readonly string[]): string | undefined {
  const others = ["brightness_pct", "kelvin", "rgb", "effect"].filter((name) => asked[name] !== undefined);
  if (asked.on === false && others.length > 0)
    return `${others[0]}: it cannot be set together with on: false`;
  if (asked.on === undefined && others.length === 0) return "on: transition_s alone changes nothing";
  if (asked.kelvin !== undefined && asked.rgb !== undefined)
    return "rgb: it cannot be set together with kelvin";
  const { effect } = asked;
  return effect === undefined || effects.includes(String(effect))
    ? undefined
    : notAnOption("effect", effects);
}

function expectationsOf(draft: HomeAssistantDraft, asked: Parameters): Expectation[] {
  const { on, brightness_pct, kelvin, rgb, effect } = asked;
  const expects = [draft.expectation("on", on !== false, onOffText(on !== false), same)];
  if (typeof brightness_pct === "number")
    expects.push(
      draft.expectation(
        "brightness",
        (brightness_pct * SCALE) / 100,
        `brightness ${brightness_pct} %`,
        sameOnScale(SCALE),
      ),
    );
  if (typeof kelvin === "number")
    expects.push(draft.expectation("temperature", kelvin, `colour temperature ${kelvin} K`, nearKelvin));
  if (isTriple(rgb)) {
    const wanted = toHs(rgb);
    expects.push(draft.expectation("colour", wanted, `colour ${hueText(wanted)}`, nearHue));
  }
  if (effect !== undefined) expects.push(draft.expectation("effect", effect, `effect ${effect}`, same));
  // Of a light whose brightness was asked for, that is what is told.
  return on === undefined ? [...expects.slice(1), ...expects.slice(0, 1)] : expects;
}

function hueText(value: SlotValue): string {
  if (!isPair(value)) return "unknown";
  const [hue, saturation] = value.map((one) => String(Math.round(one)));
  return `hue ${hue}°, saturation ${saturation} %`;
}

function isPair(value: unknown): value is [number, number] {
  return isNumbers(value, 2);
}

function isTriple(value: unknown): value is [number, number, number] {
  return isNumbers(value, 3);
}

function isNumbers(value: unknown, count: number): boolean {
  return Array.isArray(value) && value.length === count && value.every((one) => Number.isFinite(one));
}
