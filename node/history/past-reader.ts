/** Answers questions about the past of one reading from a store, and of the time before it from the program that kept that. */
import {
  answerPast,
  canAnswer,
  needsOf,
  type PastAnswer,
  type PastAsked,
} from "@edgecall/core/history/answer.ts";
import type { Period } from "@edgecall/core/history/pieces.ts";
import type { KeptValue, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { DAY_MS } from "./day-file.ts";
import type { HistoryStore, Slice } from "./store.ts";

/** "Last" is looked for in a few days first: most doors are opened each day. */
const LAST_DAYS = [2, 14, 90];

/** @property read values from `begin` on that came before `end`; undefined: they are not known now */
export type EarlierValues = {
  reachMs: number;
  read(begin: number, end: number): Promise<Sample[] | undefined>;
};

/** A question about one reading. @property example a value of it, where none is kept */
export type ReadingAsked = PastAsked & {
  info: SeriesInfo;
  example: KeptValue | null;
  earlier?: EarlierValues | undefined;
};
/** @property earlier values until then are those of the time before ours */
type Kept = Slice & { earlier?: number };
export type Found = { answer: PastAnswer; kept: Kept };

export class PastReader {
  readonly #store: Pick<HistoryStore, "read" | "days">;

  constructor(store: Pick<HistoryStore, "read" | "days">) {
    this.#store = store;
  }

  /** Since when values are kept (epoch ms); null: nothing is yet. */
  get since(): number | null {
    const [first] = this.#store.days();
    return first === undefined ? null : first * DAY_MS;
  }

  /** Answers a question. @returns the answer with what was read for it, or why there is none */
  async find(asked: ReadingAsked): Promise<Parsed<Found>> {
    return asked.ask === "last" ? await this.#last(asked) : await this.#find(asked);
  }

  /** Looks back step by step, at the most to where the files begin. */
  async #last(asked: ReadingAsked): Promise<Parsed<Found>> {
    let kept: Slice | undefined;
    for (const days of LAST_DAYS) {
      const from = asked.to - days * DAY_MS;
      if (from <= asked.from || this.#isEarlier(from)) break;
      const near = await this.#find({ ...asked, from }, kept);
      if (!near.ok || near.value.answer.facts.last) return near;
      kept = near.value.kept;
    }
    return await this.#find(asked, kept);
  }

  /** @param later what was read of the end of this time */
  async #find(asked: ReadingAsked, later?: Slice): Promise<Parsed<Found>> {
    const { from, to, compare, info, example } = asked;
    const read = async (isShort: boolean) => ({
      info,
      kept: await this.#read(asked, { from, to }, isShort, isShort ? later : undefined),
      compared: compare && (await this.#read(asked, compare, isShort)),
      example,
      since: this.since,
    });
    const short = await read(true);
    const source = canAnswer(asked, short) ? short : await read(false);
    const { kept } = source;
    const answer = answerPast(asked, source);
    return answer.ok ? { ok: true, value: { answer: answer.value, kept } } : answer;
  }

  /** Reads our values, and before the first one those of the time before. */
  async #read(asked: ReadingAsked, { from, to }: Period, isShort: boolean, later?: Slice): Promise<Kept> {
    const { info, earlier } = asked;
    const needs = isShort && needsOf(asked, asked);
    const kept = await this.#store.read(info, from, to, { later, ...(needs && { needs }) });
    const first = kept.samples[0]?.at ?? to;
    if (!earlier || !this.#isEarlier(from) || first <= from) return kept;
    const values = (await earlier.read(Math.max(from, first - earlier.reachMs), first)) ?? [];
    return values.length === 0 ? kept : { ...kept, samples: [...values, ...kept.samples], earlier: first };
  }

  /** True if a part of time that begins then is not ours alone. */
  #isEarlier(from: number): boolean {
    return from < (this.since ?? Number.POSITIVE_INFINITY) + DAY_MS;
  }
}
