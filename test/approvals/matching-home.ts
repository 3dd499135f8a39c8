/**
 * A home as far as questions go, in process and on the events' own clock: the offers and the matcher are the gateway's own. A test in
 * workerd compares it call by call with the gateway (worker/kernel/home/permissions/thirty-days.test.ts).
 */
import { covers } from "@edgecall/core/permissions/covers.ts";
import { offeredBounds } from "@edgecall/core/permissions/offered-bounds.ts";
import {
  LIFE_MAX_MS,
  overBy,
  type StandingPermission,
  type Who,
} from "@edgecall/core/permissions/permission.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import adverts from "./adverts.json" with { type: "json" };
import type { HomeToMeasure } from "./measure.ts";
import { type Change, type Event, PEOPLE } from "./workload.ts";

const MINUTE_MS = 60_000;

/** A person's account in a chat app is another principal than their token, and their program has a grant of its own. */
function askerOf({ person, way }: Event): Exclude<Who, "everybody"> {
  if (way === "program") return { program: `grant of ${person.name}` };
  return { person: way === "chat" ? chatOf(person.name) : person.name };
}

export function chatOf(name: string): string {
  return `telegram:${PEOPLE.findIndex((one) => one.name === name) + 1}`;
}

export class MatchingHome implements HomeToMeasure {
  readonly #rows: Array<{ permission: StandingPermission; usedAt: number | null }> = [];

  get permissions(): number {
    return this.#rows.length;
  }

  call(event: Event) {
    const { change, way, person, tainted = false, at } = event;
    if (!change) return "read";
    if (change.device === "machine") return "asked";
    const advert = advertOf(change);
    if (!advert || !isValid(advert, change)) return "refused";
    if (way === "press" && person.role === "owner" && !advert.danger) return "press";
    const now = at * MINUTE_MS;
    const row = this.#rows.find(
      ({ permission, usedAt }) =>
        overBy(permission, usedAt, now) === undefined &&
        covers(permission, {
          key: change.device,
          version: "v",
          action: change.action,
          parameters: change.parameters,
          asker: askerOf(event),
          conversation: null,
          channel: way,
          // Whose texts a program has read is not known.
          tainted: tainted || way === "program",
          chain: false,
          effect: advert.effect,
          dangerous: advert.danger === true,
          now,
          minute: at % 1_440,
        }),
    );
    if (!row) return "asked";
    row.usedAt = now;
    return "row";
  }

  approve(event: Event, always: boolean): void {
    const { change, at, person } = event;
    const advert = change && advertOf(change);
    const bounds = always && advert ? offeredBounds(advert.parameters, change.parameters) : undefined;
    if (!bounds || !advert) return;
    const now = at * MINUTE_MS;
    const permission: StandingPermission = {
      id: `p-${this.#rows.length}`,
      device: advert.name,
      key: change.device,
      version: "v",
      actions: { [advert.name]: bounds },
      who: askerOf(event),
      conversation: null,
      channels: null,
      tainted: event.way === "program",
      chain: false,
      hours: null,
      until: now + LIFE_MAX_MS,
      by: person.name,
      how: "press",
      question: null,
      at: now,
    };
    this.#rows.push({ permission, usedAt: null });
  }
}

function advertOf({ device, action }: Change): ActionAdvert | undefined {
  // SAFETY: workload.test.ts compares the file with discovery's own.
  const all = adverts as unknown as Record<string, readonly ActionAdvert[]>;
  return all[device]?.find(({ name }) => name === action);
}

/** Numbers beyond the device's range are refused without a question. */
function isValid({ parameters }: ActionAdvert, change: Change): boolean {
  const properties = parameters.properties as Record<string, { minimum?: number; maximum?: number }>;
  return Object.entries(change.parameters).every(([name, value]) => {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = properties[name] ?? {};
    return typeof value !== "number" || (value >= minimum && value <= maximum);
  });
}
