/** `json_attributes_topic`: what a publisher tells beside the value of an entity. Each member is a reading, for whoever wants all. */
import { cutText } from "@edgecall/core/text/cut.ts";
import { isObject } from "../config/fields.ts";
import { parsedJson } from "../states/message.ts";
import { Unreadable, valueReader } from "../states/templates.ts";
import type { MqttDraft } from "./draft.ts";

const ATTRIBUTES_SLOT = "attributes";

/** Fields of one entity, and characters of a name and of a text. */
const FIELDS_MAX = 16;
const NAME_MAX = 60;
const TEXT_MAX = 200;
/** A step of the message's templates pays for so many characters that are parsed. */
const CHARACTERS_A_STEP = 16;

export function attributes(draft: MqttDraft): void {
  const { read, problem } = valueReader(draft.text("json_attributes_template"));
  const isRead = draft.slotOf(
    ATTRIBUTES_SLOT,
    "json_attributes_topic",
    (message) => {
      const text = read(message);
      if (typeof text !== "string") return text;
      if (text === message.text) return fieldsText(message.json());
      const problem = message.budget.refuse(text.length / CHARACTERS_A_STEP);
      return problem === undefined
        ? fieldsText(parsedJson(text))
        : new Unreadable(`The template ${problem}.`);
    },
    { beside: true },
  );
  if (!isRead) return;
  // Entities of one device may name the same topic for what they tell beside their values.
  const place = `${draft.text("json_attributes_topic")} ${draft.config.json_attributes_template}`;
  if (problem === undefined)
    draft.reading(ATTRIBUTES_SLOT, String, { label: "attributes", free: true, fields: place });
  else draft.leave("attributes", problem);
}

/** Many entities read the same object. */
const FIELDS = new WeakMap<object, string>();

/** @returns the first scalars of a JSON object, as JSON; undefined: it is none */
function fieldsText(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const known = FIELDS.get(value);
  if (known !== undefined) return known;
  const fields: Record<string, string | number | boolean> = {};
  let count = 0;
  for (const name in value) {
    const one = value[name];
    if (typeof one !== "string" && typeof one !== "number" && typeof one !== "boolean") continue;
    fields[name.slice(0, NAME_MAX)] = typeof one === "string" ? cutText(one, TEXT_MAX) : one;
    count += 1;
    if (count === FIELDS_MAX) break;
  }
  const text = JSON.stringify(fields);
  FIELDS.set(value, text);
  return text;
}
