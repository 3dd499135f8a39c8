/**
 * Who is at home, by the sources that an owner named and by persons' own words. One source that is not known makes it unknown, unless
 * another one says that somebody is there.
 */
import { execFile } from "node:child_process";
import type { Presence } from "@edgecall/core/automations/only-if.ts";
import type { HomePresence, SaidPresence } from "@edgecall/core/protocol/automation.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import { DAY_MS } from "@edgecall/core/time/zone.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { PresenceSource } from "../settings.ts";

/** Nobody is home when all have said so for so long: a phone loses its network for some minutes. */
const AWAY_MS = windowMs(10 * 60_000, 2_000);
/** A person who is away says when they are back; one at home may leave without a word. */
const BACK_FOR_MS = DAY_MS;
const PING_EVERY_MS = windowMs(60_000, 500);
const PING_WAIT_S = 2;

type Says = HomePresence["sources"][number]["says"];

const HOME: readonly unknown[] = [true, "home", "on", "occupied", "detected", "present", "at home"];
const AWAY: readonly unknown[] = [false, "not_home", "off", "away", "clear", "absent"];

export type PresenceParts = {
  sources: readonly PresenceSource[];
  /** The state of an entity of Home Assistant, also of one that is no device; undefined: it is not known. */
  entityState(id: string): string | undefined;
  /** The value of a hosted device's reading; undefined: it is not known. */
  readingOf(agent: string, reading: string): unknown;
  /** @returns whether the host answers; undefined: that cannot be found out */
  ping?(host: string): Promise<boolean | undefined>;
  clock: Pick<Clock, "now">;
  /** Epoch ms, as at the gateway, which dates the words; undefined: it is not known. */
  time(): number | undefined;
};

export class HomePresenceSources {
  readonly #parts: PresenceParts;
  readonly #pings = new Map<string, Says>();
  #said: readonly SaidPresence[] = [];
  /** Monotonic ms: since when all sources say that nobody is there. */
  #awaySince: number | undefined;
  #pingAt = 0;
  #isPinging = false;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /** The answer of the home now. */
  get now(): Presence {
    const all = this.#all().map(({ says }) => says);
    const isAway = all.length > 0 && all.every((says) => says === "away");
    const { clock } = this.#parts;
    this.#awaySince = isAway ? (this.#awaySince ?? clock.now()) : undefined;
    if (all.includes("home")) return "somebody";
    return this.#awaySince !== undefined && clock.now() - this.#awaySince >= AWAY_MS ? "nobody" : "unknown";
  }

  /** For people; undefined: nothing is named that knows it. */
  get shown(): HomePresence | undefined {
    const sources = this.#all();
    return sources.length === 0 ? undefined : { home: this.now, sources };
  }

  /** Persons' last words. */
  said(all: readonly SaidPresence[]): void {
    this.#said = all;
  }

  /** Call it every second. */
  tick(): void {
    // Since when all are away has to be noticed when it begins.
    void this.now;
    const { clock, sources, ping = answersPing } = this.#parts;
    if (this.#isPinging || clock.now() < this.#pingAt) return;
    const hosts = sources.flatMap((one) => (one.of === "ping" ? [one.host] : []));
    if (hosts.length === 0) return;
    this.#isPinging = true;
    const looks = hosts.map(async (host) => {
      const answers = await ping(host);
      this.#pings.set(host, answers === undefined ? "unknown" : answers ? "home" : "away");
    });
    void Promise.allSettled(looks).then(() => {
      this.#isPinging = false;
      this.#pingAt = clock.now() + PING_EVERY_MS;
    });
  }

  #all(): HomePresence["sources"] {
    const named = this.#parts.sources.map((source) => ({ name: source.name, says: this.#saysOf(source) }));
    const words = this.#said.flatMap((said) => {
      const says = this.#wordOf(said);
      return says ? { name: said.name, says } : [];
    });
    return [...named, ...words];
  }

  /** @returns undefined: it holds no more */
  #wordOf({ away, at }: SaidPresence): Says | undefined {
    if (away) return "away";
    const time = this.#parts.time();
    if (time === undefined) return "unknown";
    return time < at + BACK_FOR_MS ? "home" : undefined;
  }

  #saysOf(source: PresenceSource): Says {
    const { entityState, readingOf } = this.#parts;
    if (source.of === "ping") return this.#pings.get(source.host) ?? "unknown";
    if (source.of === "reading") return saysOf(readingOf(source.agent, source.reading));
    const state = entityState(source.entity);
    // A person in another zone is away, and nothing finer is read.
    const isPerson = !source.entity.startsWith("binary_sensor.");
    const isKnown = state !== undefined && state !== "unavailable" && state !== "unknown";
    return isPerson && isKnown && state !== "home" ? "away" : saysOf(state);
  }
}

function saysOf(value: unknown): Says {
  const plain = typeof value === "string" ? value.toLowerCase() : value;
  if (HOME.includes(plain)) return "home";
  return AWAY.includes(plain) ? "away" : "unknown";
}

/** `ping` ends with 1 when nothing answered, and with more when it could not ask. */
async function answersPing(host: string): Promise<boolean | undefined> {
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
  execFile("ping", ["-n", "-c", "1", "-W", `${PING_WAIT_S}`, "--", host], { timeout: 10_000 }, (error) => {
    resolve(error === null ? true : error.code === 1 ? false : undefined);
  });
  return await promise;
}
