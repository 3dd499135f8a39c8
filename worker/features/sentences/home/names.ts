/** A home's things, and the table of their names, as a sentence may call them. */
import { areaOf as areaOfWords } from "@edgecall/core/agents/kinds.ts";
import { fold } from "@edgecall/core/agents/words.ts";
import { type NamedThing, NameTable } from "@edgecall/core/sentences/names.ts";
import type { RosterAgent } from "../../../kernel/api/roster.ts";
import { rosterOf } from "../../../kernel/home/agents/home-roster.ts";
import { hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { areaOf } from "../../../kernel/home/devices/device-line.ts";
import { modeOf } from "../../../kernel/home/devices/device-mode.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { kindsIn, type Thing } from "./things.ts";

export type HomeNames = { things: readonly Thing[]; table: NameTable };

/** Made anew where the roster has changed. */
export const namesOf = slot((home) => new Names(home));

class Names {
  readonly #home: HomeContext;
  #known: { version: number; names: HomeNames } | undefined;

  constructor(home: HomeContext) {
    this.#home = home;
  }

  /** @param reach the only agents that the person may reach; undefined: all */
  of(reach: readonly string[] | undefined, now: number): HomeNames {
    if (reach) return namesIn(thingsOf(this.#home, reach, now));
    const version = rosterOf(this.#home).version(now);
    if (this.#known?.version !== version)
      this.#known = { version, names: namesIn(thingsOf(this.#home, undefined, now)) };
    return this.#known.names;
  }
}

function namesIn(things: Thing[]): HomeNames {
  const areas = new Set(things.flatMap(({ area }) => area ?? []));
  const named = things.map(
    ({ id, name, own, area }): NamedThing => ({
      id,
      name,
      of: "device",
      ...(own && { own }),
      ...(area !== undefined && { area }),
    }),
  );
  return {
    things,
    table: new NameTable([
      ...named,
      ...[...areas].map((area): NamedThing => ({ id: area, name: area, of: "area" })),
    ]),
  };
}

function thingsOf(home: HomeContext, reach: readonly string[] | undefined, now: number): Thing[] {
  return rosterOf(home)
    .reachable(reach, now)
    .map((agent) => thingOf(home, agent, now));
}

function thingOf(home: HomeContext, agent: RosterAgent, now: number): Thing {
  const { id, line, online } = agent;
  const device = agent.hosted ? hostedDevicesOf(home).get(id) : undefined;
  const own = device?.setting?.name ?? undefined;
  const words = id.replaceAll(/[-_]+/g, " ");
  // A publisher's name that says no more than the id is written as it is.
  const published = device && sameLetters(device.hosted.name, id) ? device.hosted.name : undefined;
  const name = own ?? agent.name ?? published ?? (agent.hosted ? words : id);
  const plain =
    agent.name !== undefined && line.startsWith(`${agent.name}: `) ? line.slice(agent.name.length + 2) : line;
  const area = device
    ? (areaOf(device.hosted, device.setting, false) ?? areaOfWords({ id, line }))
    : areaOfWords({ id, line });
  return {
    id,
    name,
    own: own !== undefined || !agent.hosted,
    ...(area !== undefined && { area }),
    online,
    hosted: agent.hosted === true,
    readOnly: device !== undefined && ["off", "read"].includes(modeOf(device)),
    kinds: agent.hosted ? kindsIn(plain) : new Map(),
    adverts: () => rosterOf(home).target(id, now)?.adverts ?? [],
  };
}

function sameLetters(a: string, b: string): boolean {
  const letters = (text: string) => fold(text).replace(/[^\p{L}\p{N}]+/gu, "");
  return letters(a) === letters(b);
}
