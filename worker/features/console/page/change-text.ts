/** The change of a call, in words. Pure. */
import { cutText } from "@edgecall/core/text/cut.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { numberText, say, type TextKey } from "./texts/say.ts";

/** Actions that only look. A device that names one of its own in this way is shown in the record alone. */
const READS =
  /^(read|get|list|find|search|show|check|temperature|cpu|memory|disk|uptime|network|services|processes|logs?|system_info|ping|status|camera|picture|prompt|tree|glob|grep)(_|$)/;

export function isRead(action: string): boolean {
  return READS.test(action);
}

/**
 * The new state: "off", "40 %", "unlocked". An action that has no words here is "changed".
 * @param named such an action is shown by its name: a machine's own may only look
 */
export function changeText(action: string, parameters: unknown, named = false): string {
  const values = valuesText(action, parameters);
  if (values !== undefined) return values;
  const key = keyOf(action);
  if (key) return say(key);
  return named ? actionText(action) : say("wasChanged");
}

/** "disk report" */
export function actionText(action: string): string {
  return visible(action.replaceAll("_", " "));
}

/** @property parameters of the action @property done it did what it says */
type Call = { action: string; parameters: unknown; done: boolean };

/** A call of a conversation in a few words. An action that has no words here, or that did not do it, is shown by its name. */
export function callText({ action, parameters, done }: Call): string {
  const values = valuesText(action, parameters);
  if (values !== undefined) return values;
  const key = keyOf(action);
  const named = actionText(action);
  const what = shortText(parameters);
  if (key && done) return what === undefined ? say(key) : say("named", { name: say(key), text: what });
  return what === undefined ? named : `${named} ${what}`;
}

function verbOf(action: string): string {
  return action.split("_", 1)[0] ?? "";
}

function keyOf(action: string): TextKey | undefined {
  const verb = verbOf(action);
  return Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
}

function valuesText(action: string, parameters: unknown): string | undefined {
  if (verbOf(action) !== "set") return undefined;
  const parts = entriesOf(parameters).flatMap(([name, value]) => valueText(name, value) ?? []);
  return parts.length > 0 ? parts.join(", ") : undefined;
}

function entriesOf(parameters: unknown): Array<[string, unknown]> {
  return typeof parameters === "object" && parameters !== null ? Object.entries(parameters) : [];
}

function valueText(name: string, value: unknown): string | undefined {
  if (name === "on" && typeof value === "boolean") return say(value ? "on" : "off");
  if (typeof value !== "number") return undefined;
  if (name === "temperature") return `${numberText(value)} °C`;
  return name.endsWith("_pct") || name === "position" || name === "percentage"
    ? `${numberText(value, 0)} %`
    : undefined;
}

const TEXT_CHARS = 60;

/** It names something to programs alone. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The first text among the values, on one line: a path, a command, a name. */
function shortText(parameters: unknown): string | undefined {
  const isText = (value: unknown) => typeof value === "string" && !UUID.test(value);
  const text = entriesOf(parameters).find(([, value]) => isText(value))?.[1];
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return visible(cutText(text.trim().split("\n", 1)[0] ?? "", TEXT_CHARS));
}

const VERBS: Readonly<Record<string, TextKey>> = {
  open: "opened",
  close: "closedNow",
  stop: "stopped",
  lock: "lockedNow",
  unlock: "unlockedNow",
  press: "pressed",
  write: "fileWritten",
  edit: "fileWritten",
  append: "fileWritten",
  bash: "commandRun",
  shell: "commandRun",
  run: "commandRun",
};
