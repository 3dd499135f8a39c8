/** A short text of what was understood, so that a test's table has one line a sentence. */
import type { Frame, Target, Understood } from "../frame.ts";

/** @returns "turn_on <Reading lamp>", "set brightness 40% <light one @Kitchen>", "? delay" */
export function said(understood: Understood): string {
  if (understood.result === "none") return `? ${understood.reason.because}`;
  if (understood.result === "several")
    return `which: ${understood.meanings.map(({ frames }) => frames.map(frameText).join("; ")).join(" | ")}`;
  return understood.frames.map(frameText).join("; ");
}

function frameText(frame: Frame): string {
  const { kind, ...rest } = frame;
  const words: string[] = kind === "act" ? [] : [kind];
  for (const [key, value] of Object.entries(rest)) {
    if (key === "target") words.push(targetText(value as Target));
    else words.push(typeof value === "string" && key !== "or" ? value || "''" : `${key} ${valueText(value)}`);
  }
  return words.join(" ");
}

function valueText(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if ("number" in value && typeof value.number === "number")
    return `${value.number}${"unit" in value ? value.unit : ""}`;
  if (Array.isArray(value)) return `[${value.map((one) => frameOrValue(one)).join(", ")}]`;
  return Object.entries(value)
    .map(([key, one]) => (key === "value" ? valueText(one) : `${key} ${valueText(one)}`))
    .join(" ");
}

function frameOrValue(one: unknown): string {
  return typeof one === "object" && one !== null && "kind" in one ? frameText(one as Frame) : valueText(one);
}

function targetText(target: Target): string {
  const place = "place" in target && target.place ? `@${target.place.name || target.place.is}` : "";
  const what =
    target.of === "named"
      ? target.ids.length > 1
        ? `${target.name} x${target.ids.length}`
        : target.name
      : target.of === "type"
        ? `${target.type} ${target.number}`
        : target.of === "place"
          ? ""
          : target.of === "earlier"
            ? target.many
              ? "them"
              : "it"
            : target.of;
  return `<${[what, place].filter(Boolean).join(" ")}>`;
}
