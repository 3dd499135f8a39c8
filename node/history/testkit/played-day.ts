/** What devices of a home report in a day: some that are read often and are noisy, some that change now and then. Each seed is another home. */
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";

export type Message = { series: number; at: number; value: KeptValue };
export type PlayedDay = { series: SeriesInfo[]; messages: Message[] };

const DAY_MS = 86_400_000;

/** Numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Kind = {
  info: Omit<SeriesInfo, "device">;
  everyMs: number;
  /** @param t part of the day that is over @param before its last value */
  next(random: () => number, t: number, before: KeptValue | undefined): KeptValue;
};

const KINDS: readonly Kind[] = [
  {
    info: { reading: "Temperature", unit: "°C", class: "temperature", kind: "sensor" },
    everyMs: 120_000,
    next: (random, t) => rounded(21 + 3 * Math.sin(t * 2 * Math.PI) + (random() - 0.5) * 0.2, 1),
  },
  {
    info: { reading: "Humidity", unit: "%", class: "humidity", kind: "sensor" },
    everyMs: 240_000,
    next: (random, t) => rounded(50 + 8 * Math.cos(t * 2 * Math.PI) + (random() - 0.5) * 0.6, 1),
  },
  {
    info: { reading: "Power", unit: "W", class: "power", kind: "sensor" },
    everyMs: 10_000,
    next(random, _, before) {
      const isOn = typeof before === "number" && before > 5;
      const switches = random() < (isOn ? 0.02 : 0.004);
      return switches === isOn ? 0 : rounded(400 + (random() - 0.5) * 6, 1);
    },
  },
  {
    info: { reading: "Energy", unit: "kWh", class: "energy", kind: "sensor" },
    everyMs: 60_000,
    next: (random, _, before) => rounded((typeof before === "number" ? before : 100) + random() * 0.01, 2),
  },
  {
    info: { reading: "Contact", class: "door", kind: "binary_sensor" },
    everyMs: 600_000,
    next: (random, _, before) => (random() < 0.4 ? before !== true : before === true),
  },
  {
    info: { reading: "Mode", kind: "climate" },
    everyMs: 1_800_000,
    next: (random) => ["heat", "off", "cool"][Math.floor(random() * 3)] ?? "off",
  },
];

/** @param devices each has one reading of each kind @param day when it begins (epoch ms) */
export function playedDay({ seed, devices, day }: { seed: number; devices: number; day: number }): PlayedDay {
  const random = randomOf(seed);
  const series: SeriesInfo[] = [];
  const messages: Message[] = [];
  for (let device = 0; device < devices; device += 1)
    for (const kind of KINDS) {
      const number = series.length;
      series.push({ device: `device-${seed}-${device}`, ...kind.info });
      let before: KeptValue | undefined;
      for (let at = random() * kind.everyMs; at < DAY_MS; at += kind.everyMs * (0.5 + random())) {
        before = kind.next(random, at / DAY_MS, before);
        messages.push({ series: number, at: day + Math.floor(at), value: before });
      }
    }
  messages.sort((a, b) => a.at - b.at);
  return { series, messages };
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
