/** Finds a device, and an action of it, by what a model calls it. The error names the nearest. */
import { type Parsed, wrong } from "../protocol/parse.ts";
import { shownText } from "../rules/plain-text.ts";
import { closest } from "../text/closest.ts";
import { isLabel } from "../text/label.ts";
import type { RuleDevice } from "./device.ts";

/** Devices and actions that an error names. */
const NAMED_MAX = 8;

/** Finds a device by its id, or by a name that no other one has. */
export function findDevice(asked: string, devices: readonly RuleDevice[]): Parsed<RuleDevice> {
  const byId = devices.find(({ id }) => id === asked.trim().toLowerCase() || id === asked);
  if (byId) return { ok: true, value: byId };
  const wanted = folded(asked);
  const named = devices.filter((device) =>
    [device.id, ...namesOf(device)].some((name) => folded(name) === wanted),
  );
  const [only, ...others] = named;
  if (only && others.length === 0) return { ok: true, value: only };
  if (only) return wrong(`several devices are called so: ${listOf(named.map(({ id }) => id))}`);
  const near = nearest(asked, devices);
  return wrong(
    `there is no device '${shownText(asked, 60)}'${near === undefined ? "" : `. Did you mean '${near}'?`}`,
  );
}

/** Of a device. The error lists what it has. */
export function findAction(asked: string, { id, actions, withheld = {} }: RuleDevice): Parsed<string> {
  const wanted = folded(asked);
  const kept = Object.entries(withheld).find(([name]) => folded(name) === wanted);
  if (kept) return wrong(`no rule has '${kept[0]}': ${kept[1]}`);
  const found = actions.find((name) => folded(name) === wanted);
  if (found !== undefined) return { ok: true, value: found };
  if (actions.length === 0) return wrong(`${id} has nothing that a rule may change`);
  const switches = /^(?:turn|switch)_(on|off)$/.exec(wanted)?.[1];
  if (switches !== undefined && actions.includes("set"))
    return wrong(`${id} has no '${shownText(asked, 60)}'; use set with {"on": ${switches === "on"}}`);
  const near = closest(asked, actions);
  const meant = near === undefined ? "" : ` Did you mean '${near}'?`;
  return wrong(`${id} has no action '${shownText(asked, 60)}'. It has: ${listOf(actions)}.${meant}`);
}

function nearest(asked: string, devices: readonly RuleDevice[]): string | undefined {
  const all = devices.flatMap((device) =>
    [device.id, ...namesOf(device)].map((name) => ({ name, id: device.id })),
  );
  // A stranger's words are no name that an error repeats.
  const known = all.filter(({ name }) => isLabel(name));
  const name = closest(
    asked,
    known.map((one) => one.name),
  );
  return known.find((one) => one.name === name)?.id;
}

function namesOf({ name, area, aliases = [] }: RuleDevice): string[] {
  return [name, ...aliases, ...(area === undefined ? [] : [`${area} ${name}`, `${name}, ${area}`])];
}

function folded(text: string): string {
  return text.trim().toLowerCase().replaceAll(" ", "-");
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMED_MAX).join(", ");
  return names.length > NAMED_MAX ? `${shown}, and ${names.length - NAMED_MAX} more` : shown;
}
