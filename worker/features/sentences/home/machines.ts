/** Questions about machines: calls of their own read tools. Pure. */
import type { Ask, Comparison, Reading, State, Watch, WatchFor } from "@edgecall/core/sentences/frame.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import type { MachineAsk } from "../machines/text.ts";
import { choices, findTarget, type Problem, type TargetContext } from "./targets.ts";
import type { Thing } from "./things.ts";

/** Names of tools, ours and EvoClaw's, that say it, and how they are called. */
const TOOLS: Readonly<
  Partial<Record<Reading, readonly (readonly [tool: string, params?: Record<string, unknown>])[]>>
> = {
  disk: [["disk"], ["read_disk"]],
  memory: [["memory"], ["read_memory"]],
  load: [["cpu"], ["read_cpu_usage"]],
  temperature: [["temperature"], ["read_temperature"]],
  uptime: [["system_info"]],
  version: [["system_info"]],
  state: [["system_info"]],
  services: [["services"]],
  failed_services: [["services"]],
  log: [["journal"]],
  log_errors: [["journal", { priority: "err" }]],
  address: [["network_info"]],
  processes: [["list_processes"]],
  picture: [["snapshot"]],
};
/** What a machine alone is asked for. */
const OF_MACHINES: ReadonlySet<Reading> = new Set([
  "disk",
  "memory",
  "load",
  "uptime",
  "services",
  "failed_services",
  "log",
  "log_errors",
  "address",
  "processes",
  "version",
]);

export type MachineCalls =
  | { calls: PlannedCall[]; things: Thing[]; asked: MachineAsk }
  | { problem: Problem };

/** @returns undefined: it is no question to a machine */
export function machineCalls(ask: Ask, context: TargetContext): MachineCalls | undefined {
  const asked = askedIn(ask);
  if (!asked) return undefined;
  const { target } = ask;
  const { reading } = asked;
  const machines = context.things.filter(({ hosted }) => !hosted);
  const isNamed = target.of === "named" && machines.some(({ id }) => target.ids.includes(id));
  const isTyped = target.of === "type" && target.type === "machine";
  const isEarlier = target.of === "earlier" && machines.some(({ id }) => context.earlier.includes(id));
  if (!OF_MACHINES.has(reading) && !isNamed && !isTyped && !isEarlier && reading !== "picture")
    return undefined;
  const things = reading === "picture" ? context.things : machines;
  const callOf = (thing: Thing): PlannedCall[] => {
    const names = thing.adverts().map(({ name }) => name);
    const [tool, params = {}] = (TOOLS[reading] ?? []).find(([name]) => names.includes(name)) ?? [];
    return tool === undefined
      ? []
      : [{ name: EDGE_CALL, args: { agent_id: thing.id, action: tool, params } }];
  };
  const { phrases } = context;
  // To ask which one is meant makes no sense where no machine has it.
  if (target.of === "unsaid" && machines.length > 0 && !things.some((thing) => callOf(thing).length > 0))
    return {
      problem: {
        text: phrases.say("hasNoReadings", {
          name: namesOf(machines, phrases),
          reading: phrases.reading(reading),
        }),
      },
    };
  const found = findTarget(target, { ...context, things }, (thing) => callOf(thing).length > 0, isTyped);
  if ("problem" in found) return found;
  const calls = found.things.flatMap(callOf);
  const [first] = found.things;
  if (calls.length === 0)
    return {
      problem: {
        text: phrases.say("hasNoReadings", { name: first?.name ?? "", reading: phrases.reading(reading) }),
      },
    };
  return { calls, things: found.things.filter((thing) => callOf(thing).length > 0), asked };
}

/** @returns undefined: the question is about a state */
function askedIn(ask: Ask): MachineAsk | undefined {
  if (ask.form === "value") return { reading: ask.reading };
  if (!("compare" in ask)) return undefined;
  const { compare, form } = ask;
  const reading = compare.reading ?? readingOf(compare);
  return reading && { reading, compare, ...(form === "which" && { which: true }) };
}

/** What "above 60 degrees" is about, where nothing else was said. */
function readingOf({ value }: Comparison): Reading | undefined {
  return value.unit?.startsWith("°") ? "temperature" : undefined;
}

const GB = 1e9;
const MB = 1e6;

/** The fields of a watch on a machine's own readings, which are its tools' figures. @returns undefined: none of them could say it */
export function machineWatch(
  condition: WatchFor,
  thing: Thing,
): { reading: string; field?: string; is: string; value: number } | undefined {
  if (!("is" in condition)) return undefined;
  const { is, share, value } = condition;
  const reading = condition.reading ?? readingOf(condition);
  const tool = reading && WATCHED[reading];
  if (!tool || !thing.adverts().some(({ name }) => name === tool)) return undefined;
  const { number, unit } = value;
  const watched = (field: string | undefined, of = number, when: string = is) => ({
    reading: tool,
    ...(field !== undefined && { field }),
    is: when,
    value: of,
  });
  if (reading === "temperature")
    return unit?.startsWith("°") || unit === undefined ? watched(undefined) : undefined;
  if (reading === "load") {
    if (unit !== undefined && unit !== "%") return undefined;
    // "above 4" is the load average of a minute.
    return watched(unit === "%" ? "usage_percent" : "load_1");
  }
  if (unit === "GB" || unit === "MB") {
    const bytes = number * (unit === "GB" ? GB : MB);
    if (reading === "memory") return watched(share === "used" ? "used_bytes" : "available_bytes", bytes);
    return watched(share === "used" ? "/.used_bytes" : "/.free_bytes", bytes);
  }
  if (reading !== "disk" || (unit !== undefined && unit !== "%")) return undefined;
  // Less than 10 % free is more than 90 % used.
  const isFree = share === "free";
  const turned = is === "above" ? "below" : is === "below" ? "above" : is;
  return isFree ? watched("/.used_percent", 100 - number, turned) : watched("/.used_percent");
}

/** @returns undefined: something may be watched for it; else the machines, of which none can */
export function unwatchable(
  { target, condition }: Pick<Watch, "target" | "condition">,
  { things, phrases }: TargetContext,
): Problem | undefined {
  if (target.of !== "unsaid" || !("is" in condition)) return undefined;
  const machines = things.filter(({ hosted }) => !hosted);
  const isTheirs = condition.reading !== undefined && OF_MACHINES.has(condition.reading);
  if (!isTheirs || machines.length === 0 || machines.some((one) => machineWatch(condition, one)))
    return undefined;
  return { text: phrases.say("cannotActAtAll", { name: namesOf(machines, phrases) }) };
}

function namesOf(things: readonly Thing[], phrases: TargetContext["phrases"]): string {
  return phrases.list(choices(things), "or");
}

/** Our agent's tools, which it can watch. */
const WATCHED: Readonly<Partial<Record<Reading, string>>> = {
  disk: "disk",
  memory: "memory",
  load: "cpu",
  temperature: "temperature",
};

/** "Is vm on?", "is vm running?" ask whether the machine is online. */
export function asPresence(ask: Ask, { things, earlier }: TargetContext): Ask {
  if (!("state" in ask)) return ask;
  const { target } = ask;
  const ids = target.of === "named" ? target.ids : target.of === "earlier" ? earlier : [];
  const meant = things.filter(({ id }) => ids.includes(id));
  const isMachine =
    (target.of === "type" && target.type === "machine") ||
    (meant.length > 0 && meant.every(({ hosted }) => !hosted));
  const state = isMachine ? PRESENCE[ask.state] : undefined;
  return state ? { ...ask, state } : ask;
}

const PRESENCE: Readonly<Partial<Record<State, State>>> = {
  on: "online",
  running: "online",
  off: "offline",
};
