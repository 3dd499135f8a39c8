/** `json_attributes_topic`: what a publisher tells beside the value of an entity. Each member is a reading, for whoever wants all. */
import { cutText } from "../../text/cut.ts";
import type { Reading } from "../device.ts";
import { isObject } from "../discovery/fields.ts";
import { harmless } from "../names.ts";
import { valueReader } from "../states/templates.ts";
import type { EntityDraft } from "./draft.ts";
import type { SlotValue } from "./entity.ts";

const ATTRIBUTES_SLOT = "attributes";

/** Fields of one entity, and characters of a name and of a text. */
const FIELDS_MAX = 16;
const NAME_MAX = 60;
const TEXT_MAX = 200;

export function attributes(draft: EntityDraft): void {
  const { read, problem } = valueReader(draft.text("json_attributes_template"));
  const isRead = draft.slotOf(
    ATTRIBUTES_SLOT,
    "json_attributes_topic",
    (message) => {
      const text = read(message);
      return typeof text === "string" ? fieldsText(text) : text;
    },
    { beside: true },
  );
  if (!isRead) return;
  if (problem === undefined)
    draft.reading(ATTRIBUTES_SLOT, String, { label: "attributes", free: true, fields: true });
  else draft.leave("attributes", problem);
}

/** @returns the scalars of a JSON object, as JSON; undefined: it is none */
function fieldsText(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const fields = Object.entries(value).flatMap(([name, one]) => {
    if (typeof one === "string") return [[name.slice(0, NAME_MAX), cutText(one, TEXT_MAX)]];
    return typeof one === "number" || typeof one === "boolean" ? [[name.slice(0, NAME_MAX), one]] : [];
  });
  return JSON.stringify(Object.fromEntries(fields.slice(0, FIELDS_MAX)));
}

/** The readings of the fields. @param reading of the slot @param value of the slot */
export function fieldsOf(reading: Reading, value: SlotValue | undefined): Reading[] {
  if (typeof value !== "string") return [];
  // SAFETY: `fieldsText` has written it.
  const fields = JSON.parse(value) as Record<string, string | number | boolean>;
  const before = reading.name.replace(/attributes(?= \d+$|$)/, "");
  return Object.entries(fields).map(([name, value]) => {
    const told = typeof value === "string" ? harmless(value, TEXT_MAX) : value;
    const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(told);
    return {
      ...reading,
      name: harmless(`${before}${name}`, 100),
      value: told,
      text,
      tainted: typeof value === "string",
    };
  });
}
