/** Which controls a device of the broker gets, from its actions' JSON Schemas. Everything else it can do has a form. Pure. */
import type { DeviceView } from "@edgecall/client/routes.ts";

export type Control = {
  action: string;
  /** The part of the device; empty where it has one part. */
  part: string;
  isDangerous: boolean;
  /** What it changes is not available now. */
  disabled?: true;
} & (
  | { kind: "switch"; value: boolean | undefined }
  | {
      kind: "range";
      parameter: string;
      label: string;
      minimum: number;
      maximum: number;
      step: number;
      unit: string;
      value: number | undefined;
    }
  | { kind: "choice"; parameter: string; label: string; options: string[]; value: string | undefined }
  | { kind: "press"; label: string }
);

type Schema = {
  type?: string;
  description?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
};
type Readings = NonNullable<DeviceView["readings"]>;

/** Parameters that are set with a slider, and what the reading of each is called. */
const RANGES: Readonly<Record<string, string>> = {
  brightness_pct: "brightness",
  position: "position",
  tilt: "tilt",
  temperature: "target temperature",
  humidity: "target humidity",
  percentage: "speed",
};
const STEP = /\bstep ([\d.]+)/;

/** In the order of its actions. Reading ones have none, nor those with a parameter that must be given and has no control. */
export function controlsOf({ actions, readings }: Pick<DeviceView, "actions" | "readings">): Control[] {
  return actions.flatMap((action): Control[] => {
    if (action.effect === "read") return [];
    const { properties = {}, required = [] } = action.parameters as {
      properties?: Record<string, Schema>;
      required?: string[];
    };
    const names = Object.keys(properties);
    const isSetting = /^set(_|$)/.test(action.name);
    const part = isSetting ? labelOf(action.name.replace(/^set(_position|_tilt)?_?/, "")) : "";
    const common = {
      action: action.name,
      part,
      isDangerous: action.dangerous === true,
      ...(isUnavailable(readings ?? [], part) && { disabled: true as const }),
    };
    if (names.length === 0) return [{ ...common, kind: "press", label: labelOf(action.name) }];
    return names.flatMap((parameter): Control[] => {
      if (required.some((other) => other !== parameter)) return [];
      const control = controlFor(parameter, properties[parameter] ?? {}, readings ?? [], part);
      return control ? [{ ...common, ...control }] : [];
    });
  });
}

/** Whether the part, or the whole device, reports nothing but that it is not available. */
function isUnavailable(readings: Readings, part: string): boolean {
  const own =
    part === "" ? readings : readings.filter(({ name }) => labelOf(name.toLowerCase()).startsWith(part));
  return own.length > 0 && own.every(({ unavailable }) => unavailable);
}

type Own<C> = C extends Control ? Omit<C, "action" | "part" | "isDangerous" | "disabled"> : never;

function controlFor(
  parameter: string,
  schema: Schema,
  readings: Readings,
  part: string,
): Own<Control> | undefined {
  const { type, minimum, maximum, enum: options } = schema;
  if (parameter === "on" && type === "boolean") {
    const value = reported(readings, part, "")?.value;
    return { kind: "switch", value: typeof value === "boolean" ? value : undefined };
  }
  const named = RANGES[parameter];
  if (named !== undefined && minimum !== undefined && maximum !== undefined) {
    const found = reported(readings, part, named);
    const step = Number(STEP.exec(schema.description ?? "")?.[1] ?? (type === "integer" ? 1 : 0.5));
    const value = typeof found?.value === "number" ? found.value : undefined;
    const unit = found?.unit ?? (type === "integer" && maximum === 100 ? "%" : "");
    return { kind: "range", parameter, label: named, minimum, maximum, step, unit, value };
  }
  if (parameter === "mode" && options?.every((one) => typeof one === "string")) {
    const value = reported(readings, part, "")?.value;
    return {
      kind: "choice",
      parameter,
      label: "mode",
      options: options as string[],
      value: typeof value === "string" ? value : undefined,
    };
  }
  return undefined;
}

/** A part's own reading has its name alone, and that of a device with one part the name of its kind. */
function reported(readings: Readings, part: string, label: string): Readings[number] | undefined {
  const wanted = [part, label].filter((one) => one !== "").join(" ");
  return readings.find(({ name, kind, unavailable }) => {
    if (unavailable) return false;
    return wanted === "" ? name === labelOf(kind) : labelOf(name.toLowerCase()) === wanted;
  });
}

function labelOf(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}
