/** The state that a question about the past means: `open`, `on`, `>5`. */
import { type Parsed, wrong } from "../protocol/parse.ts";
import { classWords } from "../text/class-words.ts";
import type { KeptValue, SeriesInfo } from "./sample.ts";

/** @property words of the reading: `open` where `on` was asked of a door */
export type AskedState = {
  test: (value: KeptValue) => boolean;
  words: string;
  /** Whether it is so of each number from `low` to `high`; undefined: of some. */
  testAll?: (low: number, high: number) => boolean | undefined;
};

const COMPARED =
  /^(>=|<=|>|<|=|==|at least|at most|above|over|below|under|more than|less than)?\s*([+-]?\d+(?:[.,]\d+)?)\s*(\S{0,8})$/;
const YES = ["on", "true", "yes"];
const NO = ["off", "false", "no"];
/** The opposite where the words of a class are those of another one: a door without a class is `open` too. */
const OTHER_YES = ["open", "opened", "active", "running", "detected"];
const OTHER_NO = ["closed", "shut", "inactive", "idle", "clear"];

/** @param known values that came @returns undefined: the question is about any value */
export function readState(
  text: string | undefined,
  info: Pick<SeriesInfo, "class" | "unit">,
  known: readonly KeptValue[],
): Parsed<AskedState | undefined> {
  const asked = (text ?? "").trim().toLowerCase();
  const isBoolean = known.some((value) => typeof value === "boolean");
  if (isBoolean) return booleanState(asked, info.class);
  if (asked === "") return { ok: true, value: undefined };
  const isNumber = known.some((value) => typeof value === "number");
  const [, sign = "=", digits] = COMPARED.exec(asked) ?? [];
  if (isNumber && digits === undefined)
    return wrong(`is: this reading has numbers; expected a comparison, as in >5`);
  if (isNumber && digits !== undefined)
    return { ok: true, value: comparison(sign, Number(digits.replace(",", "."))) };
  const test = (value: KeptValue) => String(value).toLowerCase() === asked;
  return { ok: true, value: { test, words: asked } };
}

function booleanState(asked: string, of: string | undefined): Parsed<AskedState> {
  const [yes, no] = classWords(of);
  const isYes = asked === "" || asked === yes || YES.includes(asked);
  const isNo = asked === no || NO.includes(asked);
  const state = (wanted: boolean): Parsed<AskedState> => ({
    ok: true,
    value: { test: (value) => value === wanted, words: wanted ? yes : no },
  });
  if (isYes) return state(true);
  if (isNo) return state(false);
  if (OTHER_YES.includes(asked)) return state(true);
  if (OTHER_NO.includes(asked)) return state(false);
  return wrong(`is: this reading is ${yes} or ${no}`);
}

function comparison(sign: string, number: number): AskedState {
  const of = (words: string, test: (value: number) => boolean): AskedState => ({
    test: (value) => typeof value === "number" && test(value),
    words: `${words} ${number}`,
    testAll: (low, high) => (test(low) === test(high) ? test(low) : undefined),
  });
  if (sign === ">" || sign === "above" || sign === "over" || sign === "more than")
    return of("above", (value) => value > number);
  if (sign === "<" || sign === "below" || sign === "under" || sign === "less than")
    return of("below", (value) => value < number);
  if (sign === ">=" || sign === "at least") return of("at least", (value) => value >= number);
  if (sign === "<=" || sign === "at most") return of("at most", (value) => value <= number);
  return {
    ...of("at", (value) => value === number),
    testAll: (low, high) =>
      low === high ? low === number : number < low || number > high ? false : undefined,
  };
}
