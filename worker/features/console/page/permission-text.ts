/** What an answer keeps, in words: values, for whom, until when. Pure. */
import type { PermissionOffer } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { personText, type RuleName } from "./person-text.ts";
import { locale, say } from "./texts/say.ts";

type Bound = PermissionOffer["bounds"][string];
export type Holder = PermissionOffer["who"][number];

const VALUES_SHOWN = 6;

export function endText(
  { id, until, who: [who] }: Pick<PermissionOffer, "id" | "until" | "who">,
  me: string,
  ruleName?: RuleName,
): string {
  if (id === "conversation") return say("untilQuiet");
  return say("keptFor", { who: who === undefined ? "" : whoText(who, me, ruleName), date: dateText(until) });
}

/** "on and off, brightness pct 1–100"; empty: the action has no values. */
export function boundsText(bounds: PermissionOffer["bounds"]): string {
  const parts = Object.entries(bounds).map(([name, bound]) => `${labelOf(name)} ${boundText(bound)}`.trim());
  return visible(parts.join(", "));
}

/** `on` says itself what it is. */
export function labelOf(name: string): string {
  return name === "on" ? "" : visible(name.replaceAll("_", " "));
}

function boundText(bound: Bound): string {
  if ("is" in bound) return valueText(bound.is);
  if ("oneOf" in bound) {
    const shown = bound.oneOf.slice(0, VALUES_SHOWN).map(valueText);
    const more = bound.oneOf.length - shown.length;
    return more > 0 ? say("valuesMore", { values: shown.join(", "), count: more }) : listText(shown);
  }
  if ("from" in bound) return `${bound.from.toLocaleString()}–${bound.to.toLocaleString()}`;
  if ("each" in bound) return say("anyColour");
  return "under" in bound ? say("inFolder", { path: bound.under }) : say("anyText");
}

function listText(parts: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: "conjunction" }).format(parts);
}

function valueText(value: string | number | boolean | null): string {
  return typeof value === "boolean" ? say(value ? "on" : "off") : String(value);
}

/** @param me the principal who looks */
export function whoText(who: Holder, me: string, ruleName: RuleName = () => undefined): string {
  if (who === "everybody") return say("everybody");
  if ("person" in who) return personText(who.person, me);
  if ("program" in who) return say("thisProgram");
  if ("home" in who) return visible(who.home);
  const name = ruleName(who.rule);
  return name === undefined ? say("thisRule") : say("ruleNamed", { name: visible(name) });
}

export function dateText(at: number): string {
  return new Date(at).toLocaleDateString(locale(), { day: "numeric", month: "short", year: "numeric" });
}
