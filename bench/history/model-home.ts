/** A day of a home of 300 devices with 3,000 readings, as messages: invented, and of the size that research on real homes gives. */
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";

type ModelReading = {
  info: SeriesInfo;
  everyMs: number;
  next: (t: number, before: KeptValue | undefined) => KeptValue;
};

const DAY_MS = 86_400_000;

/** Numbers from 0 to 1, the same in each run. */
function randomNumbers(seed: number): () => number {
  let state = 42 + seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Readings, with how often each is reported. */
export function modelHome(seed = 0): { readings: ModelReading[]; random: () => number } {
  const random = randomNumbers(seed);
  const readings: ModelReading[] = [];
  const add = (
    device: string,
    info: Omit<SeriesInfo, "device">,
    everyMs: number,
    next: ModelReading["next"],
  ) => readings.push({ info: { device, ...info }, everyMs, next });
  const noise = (size: number) => (random() - 0.5) * size;
  const fixed = (value: number, decimals: number) => Number(value.toFixed(decimals));
  for (let nth = 0; nth < 300; nth += 1) {
    const device = `device-${nth}`;
    if (nth < 120) {
      const load = 20 + random() * 1_500;
      add(device, { reading: "Power", unit: "W", class: "power", kind: "sensor" }, 10_000, (_, before) => {
        const isOn = typeof before === "number" && before > 5;
        const isSwitched = random() < 0.004;
        return isSwitched === isOn ? (random() < 0.1 ? 0.2 : 0.1) : fixed(load + noise(load * 0.01), 1);
      });
      add(device, { reading: "Energy", unit: "kWh", class: "energy", kind: "sensor" }, 30_000, (_, before) =>
        fixed((typeof before === "number" ? before : 100) + (random() < 0.05 ? 0.01 : 0), 2),
      );
      add(device, { reading: "Switch", kind: "switch" }, 600_000, () => random() < 0.7);
    } else if (nth < 240) {
      const warm = 18 + random() * 5;
      const climate: Array<[string, string, string, number, number]> = [
        ["Temperature", "°C", "temperature", warm, 1.5],
        ["Humidity", "%", "humidity", 50, 6],
        ["Pressure", "hPa", "pressure", 1_013, 4],
      ];
      for (const [reading, unit, of, mean, swing] of climate)
        add(device, { reading, unit, class: of, kind: "sensor" }, 180_000, (t) =>
          fixed(mean + swing * Math.sin(2 * Math.PI * (t + nth / 300)) + noise(0.2), 1),
        );
    } else
      add(device, { reading: "Contact", class: "door", kind: "binary_sensor" }, 900_000, (_, before) =>
        random() < 0.5 ? before !== true : before === true,
      );
    // Modes, limits and counters, which hardly ever change.
    for (let other = readings.length; other < (nth + 1) * 10; other += 1)
      add(device, { reading: `Setting ${other}`, kind: "select" }, 3_600_000, (_, before) =>
        before === undefined || random() < 0.01
          ? (["low", "medium", "high"][Math.floor(random() * 3)] ?? "low")
          : before,
      );
  }
  add("device-300", { reading: "Contact", class: "window", kind: "binary_sensor" }, 3_600_000, () => false);
  return { readings, random };
}

/** All messages of a day in their order, one by one. @param from when the day begins (epoch ms) */
export function* messagesOf(
  from: number,
  seed: number,
): Generator<{ info: SeriesInfo; at: number; value: KeptValue }> {
  const { readings, random } = modelHome(seed);
  const queue = readings.map((reading) => ({
    reading,
    at: random() * reading.everyMs,
    before: undefined as KeptValue | undefined,
  }));
  // In steps of ten seconds: a heap over 3,000 readings would cost more than what is measured.
  for (let step = 0; step < DAY_MS; step += 10_000)
    for (const one of queue)
      while (one.at < step + 10_000) {
        const { reading } = one;
        one.before = reading.next(one.at / DAY_MS, one.before);
        yield { info: reading.info, at: from + Math.floor(one.at), value: one.before };
        one.at += reading.everyMs * (0.5 + random());
      }
}
