/** The time until each chat platform is acknowledged, while turns of all platforms run. */
import { setTimeout as pause } from "node:timers/promises";
import type { Person } from "../../test/platforms/people.ts";
import { until } from "../../test/wait.ts";
import { percentile } from "../stats.ts";
import { endOfAnswer, question } from "./model.ts";

type AckFigures = { channel: string; p50: number; p99: number; most: number; samples: number };
export type Acks = { people: number; modelMs: number; rows: AckFigures[] };

/** People per platform at a time; each waits for the answer before the next message. */
const PEOPLE_AT_ONCE = 4;
/** The model's time in a turn, and so the length of each message's turn. */
const MODEL_MS = 500;
const ANSWER_WITHIN_MS = 60_000;

/** @param forMs no message is sent after this time */
export async function measureAcks(people: readonly Person[], forMs: number): Promise<Acks> {
  // Warms up, because V8 compiles code on demand, and the first message of a chat makes its object.
  await Promise.all(people.flatMap((person) => slots().map((slot) => speak(person, slot, 0))));
  const rows = await Promise.all(
    people.map(async (person, at) => {
      const ms = (
        await Promise.all(slots().map((slot) => speakLater(person, slot, at / people.length, forMs)))
      ).flat();
      return {
        channel: person.channel,
        p50: percentile(ms, 0.5),
        p99: percentile(ms, 0.99),
        most: Math.max(...ms),
        samples: ms.length,
      };
    }),
  );
  return { people: people.length * PEOPLE_AT_ONCE, modelMs: MODEL_MS, rows };
}

const slots = () => Array.from({ length: PEOPLE_AT_ONCE }, (_, slot) => slot);

/** Starts at a shifted time: if all people began together, the queue of all would be measured. */
async function speakLater(person: Person, slot: number, share: number, forMs: number): Promise<number[]> {
  await pause((MODEL_MS * (slot + share)) / PEOPLE_AT_ONCE);
  return await speak(person, slot, forMs);
}

/** One person's messages, each after the answer to the previous one. @returns milliseconds to each acknowledgement */
async function speak(person: Person, slot: number, forMs: number): Promise<number[]> {
  const from = String(3_000 + slot);
  const took: number[] = [];
  const end = performance.now() + forMs;
  do {
    const place = `${person.channel}-${slot}-${took.length}-${forMs}`;
    const sent = await person.say(question(MODEL_MS, place), from);
    if (sent.status >= 300) throw new Error(`${person.channel}: ${sent.status} ${sent.words ?? ""}`);
    took.push(sent.ms);
    const isAnswered = () => sent.messages().some(({ text }) => text.includes(endOfAnswer(place)));
    await until(isAnswered, { within: ANSWER_WITHIN_MS, what: `an answer on ${person.channel}` });
  } while (performance.now() < end);
  return took;
}
