/**
 * The hundred questions in words of `core/sentences`, as the calls of the tool `past` that a model makes of them, about two months of a
 * home. Each answer is compared with every message that came.
 */
import { readPeriod } from "@edgecall/core/history/period.ts";
import type { KeptValue, SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { DE, EN, MODEL, ZH } from "@edgecall/core/sentences/testkit/past-questions.ts";
import { classWords } from "@edgecall/core/text/class-words.ts";
import type { Message } from "@edgecall/node/history/testkit/played-day.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BridgeHistory } from "./bridge-history.ts";
import { playHome, spanIn, truth } from "./testkit/played-home.ts";

const ZONE = "Europe/Berlin";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Thursday, 21:00 in Berlin. */
const NOW = Date.UTC(2026, 10, 26, 20);
const BEGUN = NOW - 58 * DAY;
/** In which the bridge was off: yesterday afternoon. */
const OFF = { from: NOW - 29 * HOUR, to: NOW - 28 * HOUR };

type Call = Pick<PastQuestion, "ask" | "is" | "period"> & { device: string };

const PERIODS: Readonly<Record<string, string>> = { day: "24 h", model: "" };
/** Of the questions that the reader leaves to a model. One about what is to come asks for a day that is not over. */
const TO_COME = "2026-11-28";
const OF_A_MODEL: Readonly<Record<string, Call>> = {
  "When was the front door last open in the kitchen and the hall?": last("Front door", "open"),
  "When will the front door open?": last("Front door", "open", TO_COME),
  "When does the washing machine end?": last("Washing machine", "stopped", TO_COME),
  "Why was the front door open yesterday?": list("Front door", "open", "yesterday"),
  "How long will the garden pump run?": duration("Garden pump", "running", TO_COME),
  "How warm was it yesterday?": mean("Thermometer", "yesterday"),
  "Was the front door open last night?": count("Front door", "open", "last night"),
  "How often should the front door be locked?": count("Front door lock", "locked", TO_COME),
  "Wann geht die Haustür auf?": last("Haustür", "open", TO_COME),
  "Wann ist die Waschmaschine fertig?": last("Waschmaschine", "stopped", TO_COME),
  "Warum war die Haustür gestern offen?": list("Haustür", "open", "yesterday"),
  "Wie lange läuft die Waschmaschine noch?": duration("Waschmaschine", "running", TO_COME),
  "Wie warm war es gestern?": mean("Thermometer", "yesterday"),
  "War die Haustür gestern offen?": count("Haustür", "open", "yesterday"),
  "洗衣机什么时候结束？": last("洗衣机", "stopped", TO_COME),
  "前门为什么昨天开着？": list("前门", "open", "yesterday"),
  "昨天多少度？": mean("Thermometer", "yesterday"),
};

function last(device: string, is: string, period?: string): Call {
  return { device, ask: "last", is, period };
}
function list(device: string, is: string, period: string): Call {
  return { device, ask: "list", is, period };
}
function duration(device: string, is: string, period: string): Call {
  return { device, ask: "duration", is, period };
}
function count(device: string, is: string, period: string): Call {
  return { device, ask: "count", is, period };
}
function mean(device: string, period: string): Call {
  return { device, ask: "mean", period };
}

const DOORS = /door|window|freezer|tür|fenster|schrank|门|窗|冰箱/i;

/** `past duration on or open <前门> last_week` */
function callOf([sentence, meaning]: readonly [string, string]): Call {
  const model = OF_A_MODEL[sentence];
  if (meaning === MODEL) return model ?? last("Front door", "open");
  const [, ask = "", states = "", device = "", part = ""] =
    /^past (\w+) (.*?) <(.*?)>(?: (\w+))?$/.exec(meaning) ?? [];
  const isDoor = DOORS.test(device);
  const is =
    states === "on or open" ? (isDoor ? "open" : "on") : states === "off or closed" ? "closed" : states;
  const period = part === "" ? undefined : (PERIODS[part] ?? part.replace("_", " "));
  // Since when it is so is when it last became so.
  return {
    device: is === "locked" ? `${device} lock` : device,
    ask: ask === "since" ? "last" : (ask as Call["ask"]),
    is,
    period,
  };
}

const CALLS = [...EN, ...DE, ...ZH].map((asked) => ({ sentence: asked[0], call: callOf(asked) }));

function infoOf(device: string, is: string | undefined): SeriesInfo {
  if (device === "Thermometer")
    return { device, reading: "Temperature", unit: "°C", class: "temperature", kind: "sensor" };
  if (is === "locked") return { device, reading: "Lock", kind: "lock" };
  if (is === "running" || is === "stopped")
    return { device, reading: "Running", class: "running", kind: "binary_sensor" };
  if (DOORS.test(device)) return { device, reading: "Contact", class: "door", kind: "binary_sensor" };
  return { device, reading: "State", kind: "switch" };
}

const series = [
  ...new Map(CALLS.map(({ call }) => [call.device, infoOf(call.device, call.is)] as const)).values(),
];

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

/** What each device reports when it changes, and again now and then. */
function messagesOf({ device, unit, reading }: SeriesInfo, nth: number): Message[] {
  const random = randomOf(nth + 1);
  const messages: Message[] = [];
  let isSo = false;
  for (let at = BEGUN + random() * HOUR; at < NOW; at += random() ** 2 * (isSo ? 2 : 7) * HOUR) {
    if (random() < 0.8) isSo = !isSo;
    const warm = Math.round((20 + 3 * Math.sin((at / DAY) * 2 * Math.PI) + random()) * 10) / 10;
    const value: KeptValue = unit ? warm : reading === "Lock" ? (isSo ? "locked" : "unlocked") : isSo;
    if (at < OFF.from || at >= OFF.to) messages.push({ series: nth, at: Math.floor(at), value });
  }
  expect(messages.length, device).toBeGreaterThan(100);
  return messages;
}

const messages = series.flatMap(messagesOf).sort((a, b) => a.at - b.at);
const HOME = { series, messages, from: BEGUN, to: NOW, off: OFF };
let history: BridgeHistory;
beforeAll(async () => {
  history = await playHome(HOME);
}, 120_000);
afterAll(() => history.stop());

/** @returns what is wrong with an answer; undefined: it is right */
function wrongIn(text: string, { device, ask, is, period }: Call): string | undefined {
  if (period === TO_COME) return /nothing of it is known/.test(text) ? undefined : "it knows what is to come";
  const number = series.findIndex((one) => one.device === device);
  const info = series[number] as SeriesInfo;
  const own = messages.filter((message) => message.series === number);
  const asked = readPeriod(period, ZONE, NOW);
  if (!asked.ok) return asked.error;
  const isWhole = ask === "last" && period === undefined;
  const pieces = truth(own, HOME, isWhole ? { from: BEGUN, to: NOW } : asked.value);
  const matches = (value: KeptValue) =>
    typeof value === "boolean" ? classWords(info.class)[value ? 0 : 1] === is : value === is;
  const isSo = pieces.filter(({ value }) => matches(value));
  const begun = isSo.filter((piece) =>
    pieces.some((before) => before !== piece && before.to === piece.from && !matches(before.value)),
  );
  switch (ask) {
    case "count":
    case "list": {
      const found = /\b(once|\d+ times)\b/.exec(text)?.[1] ?? "";
      const times = /did not|was not/.test(text) ? 0 : found === "once" ? 1 : Number.parseInt(found, 10);
      return times === begun.length ? undefined : `${times}, not ${begun.length}`;
    }
    case "duration": {
      const ms = isSo.reduce((sum, piece) => sum + piece.to - piece.from, 0);
      const got = spanIn(/ for (.*?) in all/.exec(text)?.[1] ?? "");
      return Math.abs(got - ms) <= Math.max(0.02 * ms, MINUTE) ? undefined : `${got}, not ${ms}`;
    }
    case "mean": {
      const ms = pieces.reduce((sum, piece) => sum + piece.to - piece.from, 0);
      const wanted = pieces.reduce((sum, one) => sum + Number(one.value) * (one.to - one.from), 0) / ms;
      const got = Number(/mean (-?[\d.]+)/.exec(text)?.[1]);
      return Math.abs(got - wanted) <= 0.1 ? undefined : `${got}, not ${wanted}`;
    }
    default: {
      const at = begun.at(-1)?.from;
      if (at === undefined) return /did not/.test(text) ? undefined : "it was not so";
      const parts = { timeZone: ZONE, hour: "2-digit", minute: "2-digit" } as const;
      const time = new Intl.DateTimeFormat("en-GB", parts).format(at);
      return new RegExp(`last ${is} .*?${time}`).test(text) ? undefined : `not ${time}`;
    }
  }
}

test("at least 95 of the hundred are right, and the others say what is not known", async () => {
  const wrong: string[] = [];
  for (const { sentence, call } of CALLS) {
    const { device, ask, is, period } = call;
    const { reading } = infoOf(device, is);
    const reply = await history.answer({ agent: device, name: device, reading, ask, is, period, zone: ZONE });
    const text = "text" in reply ? reply.text : reply.error;
    const problem = wrongIn(text, call);
    if (problem !== undefined) wrong.push(`${sentence} ${JSON.stringify(call)}: ${problem} in ${text}`);
  }
  expect(CALLS).toHaveLength(100);
  expect(wrong.filter((one) => !/not known/i.test(one))).toEqual([]);
  expect(wrong.length, wrong.join("\n")).toBeLessThanOrEqual(5);
}, 60_000);
