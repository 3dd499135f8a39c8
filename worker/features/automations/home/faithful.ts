/**
 * Whether a bridge's draft is exactly what was asked for. The bridge fills in holds and types, and writes the card; devices, actions,
 * parameters and hashes are the gateway's own. This file alone decides it, so that it can be reviewed alone.
 */
import { notOffered } from "@edgecall/core/automations/agent-action.ts";
import type { AutomateInput } from "@edgecall/core/automations/tool.ts";
import { exactBounds } from "@edgecall/core/permissions/exact-bounds.ts";
import type { ActionBounds } from "@edgecall/core/permissions/permission.ts";
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import type { Automation, AutomationStep } from "@edgecall/core/protocol/automation.ts";
import { isEqual, readValue } from "@edgecall/core/rules/value.ts";
import { RULE_NAME_MAX, SAY_MAX } from "@edgecall/core/rules/watch-rule.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { modeOf } from "../../../kernel/home/devices/device-mode.ts";
import { type BoundDevice, boundDevice } from "../../../kernel/home/permissions/bound-device.ts";

/** An end switches off, closes or stops: it begins nothing. */
const ENDS = /\b(?:off|false|close|stop|pause|return|dock|lock|0)\b/;

type Asked = AutomateInput["do"][number];

/** @returns why it is not; undefined: it is */
export function unfaithful(home: HomeContext, draft: Automation, asked: AutomateInput): string | undefined {
  const { when, only_if = {}, at } = draft;
  const wanted = asked.when ?? [];
  if (draft.name !== oneLine(asked.name, RULE_NAME_MAX)) return "name";
  if ((draft.say ?? "") !== oneLine(asked.say ?? "", SAY_MAX)) return "say";
  if (wanted.length > 1 && draft.match !== (asked.match ?? "all")) return "match";
  if (when.length !== wanted.length) return "when";
  for (const [index, { key, of, agent, condition }] of when.entries()) {
    const one = wanted[index];
    const isIt = one && isDevice(home, one.agent_id, agent) && isKeyOf(home, agent, key, of);
    const reading = one?.reading ?? "";
    const names = [condition.reading, `${condition.reading}.${condition.field}`];
    if (!isIt || condition.is !== one.is || !names.some((name) => isSame(name, reading)))
      return `when.${index}`;
    const value =
      one.value === undefined ? undefined : readValue({ value: one.value }, condition.type, undefined);
    if (one.value === undefined ? condition.value !== undefined : condition.value === undefined)
      return `when.${index}.value`;
    // A device's own word for a state is read by the bridge.
    if (value !== undefined && !isEqual(value, condition.value ?? "")) return `when.${index}.value`;
    if (one.for_minutes !== undefined && condition.hold_ms !== Math.round(one.for_minutes * 60_000))
      return `when.${index}.for_minutes`;
  }
  if ((at === undefined) !== (asked.at === undefined)) return "at";
  if (only_if.presence !== asked.only_if) return "only_if";
  if ((only_if.between === undefined) !== (asked.only_between === undefined)) return "only_between";
  if (((only_if.days ?? at?.days) === undefined) !== (asked.days === undefined)) return "days";
  if (asked.over !== undefined && draft.over !== asked.over) return "over";
  if (asked.at_most_minutes !== undefined && draft.at_most_minutes !== asked.at_most_minutes)
    return "at_most_minutes";
  if (draft.do.length !== asked.do.length) return "do";
  for (const [index, step] of draft.do.entries()) {
    const one = asked.do[index];
    if (!one || !isDevice(home, one.agent_id, step.agent) || !isStep(step, one)) return `do.${index}`;
  }
  if (draft.over !== "off" && draft.end.length > 0) return "end";
  if (draft.end.some((step) => !endsOne(step, draft.do))) return "end";
  const needsEnd = draft.do.some(({ danger }) => danger === "heat" || danger === "noise");
  return needsEnd && (draft.over !== "off" || draft.at_most_minutes === undefined) ? "over" : undefined;
}

/** @returns why the home's devices do not allow these steps as they are now; undefined: they do */
export function unallowed(home: HomeContext, { do: steps, end }: Automation): string | undefined {
  for (const step of [...steps, ...end]) {
    const bound = boundTo(home, step);
    if (!bound || bound.version !== step.allow)
      return `'${step.agent}' has changed meanwhile, or is gone: its actions, or what they send, are others now`;
    const { hosted, advert } = bound;
    const isOpen = !hosted || modeOf(hosted) === "ask";
    if (!advert || advert.effect === "read" || advert.setting || !isOpen || (!hosted && notOffered(advert)))
      return `'${step.action}' of '${step.agent}' is nothing that a rule may do`;
    if (!boundsOf(step)) return `'${step.action}' of '${step.agent}' has a value that cannot be kept`;
  }
  return undefined;
}

/** The device of a step as it is now, whatever it is called by now. Versions of agents' actions have to be prepared before. */
export function boundTo(
  home: HomeContext,
  { of, key, agent, action }: AutomationStep,
): BoundDevice | undefined {
  const id = idOf(home, { of, key, agent });
  const bound = id === undefined ? undefined : boundDevice(home, id, action);
  return bound?.key === key && (bound.hosted !== undefined) === (of === "hosted") ? bound : undefined;
}

/** The id by which it is known now; undefined: it is gone. */
export function idOf(
  home: HomeContext,
  { of, key, agent }: { of: "hosted" | "agent"; key: string; agent: string },
): string | undefined {
  if (of === "hosted")
    return hostedDevicesOf(home)
      .all()
      .find(({ hosted }) => hosted.key === key)?.id;
  if (isKeyOf(home, agent, key, of)) return agent;
  return servedAgentsOf(home)
    .ids()
    .find((id) => isKeyOf(home, id, key, of));
}

/** The bounds of exactly a step's values. */
export function boundsOf({ parameters }: AutomationStep): ActionBounds | undefined {
  return exactBounds(parameters);
}

function isKeyOf(home: HomeContext, id: string, key: string, of: "hosted" | "agent"): boolean {
  const bound = boundDevice(home, id, undefined);
  return bound?.key === key && (bound.hosted !== undefined) === (of === "hosted");
}

/** @param named by a person or model: the id, or what the device is called */
function isDevice(home: HomeContext, named: string, id: string): boolean {
  if (isSame(named, id)) return true;
  const device = hostedDevicesOf(home).get(id);
  if (!device) return false;
  const { setting, hosted } = device;
  const [name, area] = [setting?.name ?? hosted.name, setting?.area ?? hosted.area ?? ""];
  const names = [name, ...(hosted.aliases ?? []), `${area} ${name}`, `${name} ${area}`];
  return names.some((one) => isSame(named, one));
}

/**
 * What people call devices that the input may mean, by id, where their publisher calls them otherwise. Others of the same name are among
 * them, so that a card tells them apart.
 */
export function namesFor(home: HomeContext, { when = [], do: steps }: AutomateInput): Record<string, string> {
  const asked = [...when, ...steps].map((one) => one.agent_id);
  const all = hostedDevicesOf(home)
    .all()
    .map(({ id, hosted, setting }) => ({ id, was: hosted.name, name: setting?.name ?? hosted.name }));
  const meant = all.filter(({ id, was }) => asked.some((one) => isSame(one, was) || isDevice(home, one, id)));
  const given = all.filter(({ name, was }) => name !== was && meant.some((one) => one.name === name));
  return Object.fromEntries(given.map(({ id, name }) => [id, name]));
}

function isStep({ action, parameters, wait_minutes = 0 }: AutomationStep, asked: Asked): boolean {
  const isWait = wait_minutes === (asked.wait_minutes ?? 0);
  return (
    isWait &&
    isSame(action, asked.action) &&
    canonicalJson(parameters) === canonicalJson(asked.parameters ?? {})
  );
}

/** An end is of a hosted device that the rule changes, and switches off. The gateway carries out nothing that was not asked for. */
function endsOne(step: AutomationStep, steps: readonly AutomationStep[]): boolean {
  const own = steps.filter(
    ({ key, of, allow }) => of === "hosted" && key === step.key && of === step.of && allow === step.allow,
  );
  const isQuiet = ENDS.test(
    JSON.stringify([step.action, ...Object.values(step.parameters)]).replaceAll("_", " "),
  );
  return own.length > 0 && isQuiet && step.danger !== "way_in" && step.wait_minutes === undefined;
}

function isSame(a: string, b: string): boolean {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  return words(a) === words(b);
}
