/** Reads a config's fields in the way Home Assistant converts them: everything is compared and sent as text, in Python's words. */
import { Quantity } from "@edgecall/core/text/quantity.ts";

export type Config = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Python's text of a JSON scalar: `true` is `True`. undefined for lists, objects and null. */
export function pythonText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : undefined;
}

/** A field's text; undefined when it is missing, empty or no scalar. */
export function textField(config: Config, key: string): string | undefined {
  return pythonText(config[key]) || undefined;
}

/** A payload or a state, exactly as it is written. */
export function payloadField(config: Config, key: string, byDefault: string): string {
  return pythonText(config[key]) ?? byDefault;
}

/** The payload of a command that a device may not know: then it is `null`, or missing where there is no default. */
export function commandPayload(config: Config, key: string, byDefault?: string): string | undefined {
  return Object.hasOwn(config, key) ? pythonText(config[key]) : byDefault;
}

export function numberField(config: Config, key: string): number | undefined;
export function numberField(config: Config, key: string, byDefault: number): number;
export function numberField(config: Config, key: string, byDefault?: number): number | undefined {
  return numberOf(config[key]) ?? byDefault;
}

export function flagField(config: Config, key: string, byDefault: boolean): boolean {
  const value = config[key];
  if (typeof value === "string") {
    const word = value.toLowerCase();
    if (["true", "yes", "on", "enable", "1"].includes(word)) return true;
    if (["false", "no", "off", "disable", "0"].includes(word)) return false;
  }
  if (typeof value === "number") return value !== 0;
  return typeof value === "boolean" ? value : byDefault;
}

/** The texts of a list, without repetition; a single value is a list of one. Those that are too long to choose are left out. */
export function listField(config: Config, key: string): string[] {
  const value = config[key];
  const texts = (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => pythonText(one) ?? []);
  return [...new Set(texts.filter((text) => text !== "" && text.length <= CHOICE_MAX))];
}

/** @returns undefined for what is no finite number, an empty text and `0x1F` included */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  return typeof value === "string" ? Quantity.parse(value)?.value : undefined;
}

/** Characters of one option, mode, tone or effect. */
const CHOICE_MAX = 100;
