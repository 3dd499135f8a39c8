/** A home whose messages are known, played through the bridge's history, and what they say. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { SourcedReading } from "@edgecall/discovery/model/device.ts";
import type { Message, PlayedDay } from "@edgecall/node/history/testkit/played-day.ts";
import { BridgeHistory } from "../bridge-history.ts";

const MINUTE = 60_000;

/** @property off in which the bridge does not run (epoch ms); no message is of this time @property from when it begins */
export type PlayedHome = PlayedDay & { from: number; to: number; off: { from: number; to: number } };

/** As discovery has them: the last value of each reading, with the number of its message. */
class PlayedCatalog {
  readonly #readings = new Map<string, Map<string, SourcedReading>>();
  #count = 0;
  #last = "";

  came({ device, reading, unit, class: of, kind }: SeriesInfo, value: KeptValue, at: number): void {
    this.#count += 1;
    this.#last = device;
    const known = this.#readings.get(device) ?? new Map<string, SourcedReading>();
    this.#readings.set(device, known);
    known.set(reading, {
      name: reading,
      value,
      text: String(value),
      kind,
      ...(unit !== undefined && { unit }),
      ...(of !== undefined && { class: of }),
      at,
      tainted: false,
      message: this.#count,
      known: this.#count,
      retained: false,
      from: "mqtt",
    });
  }

  keysOf(): string[] {
    return [this.#last];
  }

  mark(at: number): { message: number; at: number } {
    return { message: this.#count, at };
  }

  sourcedReadings(key: string): SourcedReading[] {
    return [...(this.#readings.get(key)?.values() ?? [])];
  }

  earlierOf(): undefined {}
}

/** @returns the history at the end of it; stop it */
export async function playHome({ series, messages, from, to, off }: PlayedHome): Promise<BridgeHistory> {
  const folder = mkdtempSync(join(tmpdir(), "history-"));
  let now = from;
  const catalog = new PlayedCatalog();
  const opened = async (): Promise<BridgeHistory> => {
    const opening = await BridgeHistory.open({
      folder,
      days: 400,
      catalog,
      ask: async () => ({ why: "it cannot be asked for that" }),
      keyOf: (agent) => agent,
      clock: { now: () => now, wall: () => now },
      gateway: { send: () => true },
      log: () => {},
    });
    opening.sourceUp("mqtt");
    return opening;
  };
  let history = await opened();
  // As in the bridge, but for the seconds without a message.
  const passesTo = async (time: number) => {
    while (now + 5 * MINUTE <= time) {
      now += 5 * MINUTE;
      history.tick();
      await turn();
    }
    now = Math.max(now, time);
  };
  let isOff = false;
  for (const { series: number, at, value } of messages) {
    if (at >= off.to && !isOff) {
      isOff = true;
      await passesTo(off.from);
      await history.stop();
      now = off.to;
      history = await opened();
    }
    await passesTo(at);
    catalog.came(series[number] as SeriesInfo, value, now);
    history.onMessage(() => []);
  }
  await passesTo(to);
  return history;
}

export type PlayedPiece = { from: number; to: number; value: KeptValue };

/** What is known of a reading from its messages: a value holds until the next one, or until the bridge was off. */
export function truth(
  own: readonly Message[],
  { off, to: end }: Pick<PlayedHome, "off" | "to">,
  { from, to }: { from: number; to: number },
): PlayedPiece[] {
  const pieces = own.map(({ at, value }, nth) => {
    const next = own[nth + 1]?.at ?? end;
    return { from: at, to: at < off.from ? Math.min(next, off.from) : next, value };
  });
  return pieces
    .filter((piece) => piece.to > from && piece.from < to)
    .map((piece) => ({ ...piece, from: Math.max(piece.from, from), to: Math.min(piece.to, to) }));
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  min: MINUTE,
  h: 60 * MINUTE,
  day: 24 * 60 * MINUTE,
  days: 24 * 60 * MINUTE,
};

/** @returns ms of a span in words */
export function spanIn(text: string): number {
  return [...text.matchAll(/(\d+) (s|min|h|days?)\b/g)].reduce(
    (sum, [, n, unit = ""]) => sum + Number(n) * (UNITS[unit] ?? 0),
    0,
  );
}
