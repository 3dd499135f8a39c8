/** `weather`: how it is now, and forecasts, which are asked for. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Query } from "../../model/entity/entity.ts";
import { plain } from "../../model/entity/words.ts";
import { harmless } from "../../model/names.ts";
import { objectOf } from "../state.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const CONDITIONS =
  "clear-night cloudy exceptional fog hail lightning lightning-rainy partlycloudy pouring rainy snowy snowy-rainy sunny windy windy-variant".split(
    " ",
  );
/** By bits of `supported_features`. */
const TYPES = [
  ["daily", 1],
  ["hourly", 2],
  ["twice_daily", 4],
] as const;
const DAYS_SHOWN = 7;
const HOURS_SHOWN = 12;
const UNIT_MAX = 10;

export function weather(draft: HomeAssistantDraft): void {
  draft.stateSlot("condition", (state) => CONDITIONS.find((one) => one === state));
  draft.reading("condition", plain);
  draft.measured("temperature", "temperature", "temperature", draft.entry.temperatureUnit);
  draft.measured("humidity", "humidity", "humidity", "%");
  measuredIn(draft, "pressure", "pressure", "pressure_unit");
  measuredIn(draft, "wind_speed", "wind", "wind_speed_unit");
  const types = TYPES.filter(([, bit]) => draft.can(bit)).map(([type]) => type);
  const [first] = types;
  if (first === undefined) return;
  draft.queries.push({
    action: "forecast",
    description: "The forecast.",
    parameters: types.length > 1 ? { type: { type: "string", enum: types } } : {},
    ask: ({ type = first }) => draft.call("get_forecasts", { type }),
    words: (response) => forecastText(response, draft.entry.temperatureUnit),
  } satisfies Query);
}

/** Its unit is an attribute too, as a person has set it. */
function measuredIn(
  draft: HomeAssistantDraft,
  attribute: string,
  label: string,
  unitAttribute: string,
): void {
  draft.slot(attribute, ({ attributes }) => {
    const value = attributes[attribute];
    if (typeof value !== "number") return null;
    const unit = attributes[unitAttribute];
    return `${Quantity.of(value).digits}${typeof unit === "string" ? ` ${harmless(unit, UNIT_MAX)}` : ""}`;
  });
  draft.reading(attribute, plain, { label, isThere: (value) => value(attribute) !== null });
}

function forecastText(response: unknown, unit: string): string {
  const { forecast } = objectOf(response);
  const rows = (Array.isArray(forecast) ? forecast : []).map(objectOf);
  const isDaily = rows.some(({ templow }) => typeof templow === "number");
  const lines = rows.slice(0, isDaily ? DAYS_SHOWN : HOURS_SHOWN).map((row) => {
    const at = typeof row.datetime === "string" ? harmless(row.datetime, 40) : "";
    // Of a day its date is enough.
    const time = isDaily ? at.slice(0, 10) : at.slice(0, 16).replace("T", " ");
    const condition = CONDITIONS.find((one) => one === row.condition) ?? "unknown";
    const low = typeof row.templow === "number" ? `${row.templow} to ` : "";
    const warm = typeof row.temperature === "number" ? `, ${low}${row.temperature} ${unit}` : "";
    const wet =
      typeof row.precipitation === "number" && row.precipitation > 0 ? `, ${row.precipitation} mm` : "";
    const chance =
      typeof row.precipitation_probability === "number" ? `, rain ${row.precipitation_probability} %` : "";
    return `${time}: ${condition}${warm}${wet}${chance}`;
  });
  return lines.length > 0 ? lines.join("\n") : "There is no forecast.";
}
