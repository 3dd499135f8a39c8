/** What is said where a device does not report the state that a sentence is about: the nearest that does, or that there is none. */
import type { State } from "@edgecall/core/sentences/frame.ts";
import type { States } from "../../../kernel/home/devices/device-states.ts";
import { stateIn } from "./readings.ts";
import { choices, type Problem, type TargetContext } from "./targets.ts";
import type { Thing } from "./things.ts";

type NearContext = TargetContext & { states(ids: readonly string[]): Promise<States | undefined> };

const NAMED_MAX = 4;

/** "Front door does not report that. The nearest that does: Door contact." */
export async function reportedNear(
  thing: Thing,
  of: { state: State; or?: State },
  { things, states, phrases }: NearContext,
): Promise<Problem> {
  const near = things.filter((one) => one.hosted && isNear(one, thing));
  const reported = await states(near.map(({ id }) => id));
  const reports = ({ id }: Thing) =>
    [of.state, of.or ?? of.state].some((state) => stateIn(reported?.get(id)?.readings ?? [], state));
  const able = near.filter(reports);
  return {
    text: phrases.sentences(
      phrases.say("reportsNot", { name: thing.name }),
      able.length > 0
        ? phrases.say("nearestReports", { names: phrases.list(choices(able, NAMED_MAX), "plain") })
        : phrases.say("noSensorNear"),
    ),
  };
}

/** In the same area. Where nobody gave it one, it has a word of the name: "Front door contact". */
function isNear(one: Thing, { name, area }: Thing): boolean {
  if (area !== undefined) return one.area === area;
  const words = new Set(name.toLowerCase().split(/\s+/));
  return one.name
    .toLowerCase()
    .split(/\s+/)
    .some((word) => words.has(word));
}
