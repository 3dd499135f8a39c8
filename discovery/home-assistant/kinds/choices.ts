/** A setting that is one of the texts of a list. */
import type { Setting } from "../../model/entity/draft.ts";
import { same } from "../../model/entity/fit.ts";
import { choice, notAnOption } from "../../model/entity/schemas.ts";
import { plain } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

/** What is chosen stands in an attribute, which gets a slot with the setting's name. @returns undefined: there is nothing to choose */
export function chosen(
  draft: HomeAssistantDraft,
  options: readonly string[],
  { name, label, attribute = name }: { name: string; label: string; attribute?: string },
  step: (value: unknown) => ReturnType<HomeAssistantDraft["call"]>,
): Setting | undefined {
  if (options.length === 0) return undefined;
  draft.choiceSlot(name, attribute, options);
  draft.reading(name, plain, { label, isThere: (value) => value(name) !== null });
  return oneOf(name, label, options, step);
}

/** What is chosen stands in a slot that the draft has. @returns undefined: there is nothing to choose */
export function oneOf(
  name: string,
  label: string,
  options: readonly string[],
  step: (value: unknown) => ReturnType<HomeAssistantDraft["call"]>,
): Setting | undefined {
  if (options.length === 0) return undefined;
  return {
    name,
    parameter: choice(options),
    words: (value) => `${label} ${value}`,
    steps: (value) =>
      options.includes(String(value)) ? [step(value)] : [{ error: notAnOption(name, options) }],
    confirmed: { slot: name, by: same },
  };
}
