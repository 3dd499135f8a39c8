/** The action `history` of a device whose source keeps what its readings were. */
import type { Asked, DeviceAction } from "./device.ts";
import type { History } from "./entity/entity.ts";
import { parametersSchema, wrongParameter } from "./parameters.ts";
import type { Part } from "./source.ts";

export const HISTORY = "history";
const HOURS_DEFAULT = 24;
/** Names of readings that a schema lists: each costs tokens. */
const NAMES_MAX = 20;

/** The readings that have a past, by their names. */
export type PastReadings = {
  advert: DeviceAction;
  of: ReadonlyMap<string, { part: Part; history: History }>;
};

type Named = { part: Part; name: string; spec: { label?: string } };

/** @param readings those that are offered @returns undefined: none of them has a past */
export function pastReadingsOf(readings: readonly Named[]): PastReadings | undefined {
  // What an entity is about has a past; a brightness beside it has none.
  const main = readings.filter(({ spec }) => spec.label === undefined).slice(0, NAMES_MAX);
  const of = new Map(
    main.flatMap(({ part, name }) => {
      const { history } = part.entity;
      return history ? [[name, { part, history }] as const] : [];
    }),
  );
  if (of.size === 0) return undefined;
  const advert: DeviceAction = {
    name: HISTORY,
    description: "What it was in the last hours.",
    parameters: parametersSchema({ parameters: parametersOf(of), required: [] }),
    effect: "read",
    idempotent: true,
  };
  return { advert, of };
}

/** What is asked of its source, or what is wrong. */
export function askedPast(
  { name: deviceName }: { name: string },
  { of }: PastReadings,
  parameters: Readonly<Record<string, unknown>>,
  now: number,
): Asked | { error: string } {
  const wrong = wrongParameter({ parameters: parametersOf(of), required: [] }, parameters);
  if (wrong !== undefined) return { error: wrong };
  const { name, hours = HOURS_DEFAULT } = parameters;
  const found = of.get(String(name ?? [...of.keys()][0]));
  if (!found) return { error: `name: ${deviceName} has no past of it` };
  const { part, history } = found;
  if (Number(hours) > history.hoursMax)
    return { error: `hours: should be at most ${history.hoursMax} for this reading` };
  const words = (response: unknown) => history.words(response, now);
  return { source: part.source.name, call: history.ask(Number(hours), now), words, tainted: false };
}

function parametersOf(of: PastReadings["of"]) {
  return {
    ...(of.size > 1 && { name: { type: "string", enum: [...of.keys()] } as const }),
    hours: {
      type: "integer",
      minimum: 1,
      maximum: Math.max(...[...of.values()].map(({ history }) => history.hoursMax)),
      description: `${HOURS_DEFAULT} if it is left out`,
    } as const,
  };
}
