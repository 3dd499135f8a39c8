/** Questions about the past in plain sentences: which reading is meant its states tell, and the bridge answers in the person's language. */
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import type { Past, PastPeriod, State } from "@edgecall/core/sentences/frame.ts";
import type { Answer, AskContext } from "./asks.ts";
import { stateIn } from "./readings.ts";
import { byState, choices, findTarget } from "./targets.ts";
import type { Thing } from "./things.ts";

export type PastContext = AskContext & {
  /** The home's. */
  zone: string;
  /** Asks the bridge; it answers undefined where it is away. Undefined: this person, or this home, has no past. */
  past: ((question: PastQuestion) => Promise<PastReply | undefined>) | undefined;
};

/** Words of a state: those of on or off of a class. */
const WORDS: Readonly<Partial<Record<State, readonly [of: string | undefined, at: 0 | 1]>>> = {
  on: [undefined, 0],
  off: [undefined, 1],
  open: ["door", 0],
  closed: ["door", 1],
  unlocked: ["lock", 0],
  locked: ["lock", 1],
  running: ["running", 0],
  motion: ["motion", 0],
  no_motion: ["motion", 1],
  occupied: ["occupancy", 0],
  wet: ["moisture", 0],
  dry: ["moisture", 1],
  smoke: ["smoke", 0],
  gas: ["gas", 0],
  home: ["presence", 0],
  away: ["presence", 1],
  charging: ["battery_charging", 0],
};

export async function answerPast(frame: Past, context: PastContext): Promise<Answer> {
  const { things, phrases, past, zone } = context;
  const notYet = { problem: { text: phrases.say("notYet") } };
  if (!past) return notYet;
  const target = byState(frame.target, frame);
  const hosted = things.filter((thing) => thing.hosted);
  // Which devices have the reading their states alone tell, so all that may be meant are asked.
  const wide = findTarget(target, { ...context, things: hosted }, (thing) => thing.hosted, true);
  if ("problem" in wide) return wide;
  const states = await context.states(wide.things.map(({ id }) => id));
  if (!states) return { problem: { text: phrases.say("pastAway") } };
  const readingsIn = ({ id }: Thing): readonly Reading[] => states.get(id)?.readings ?? [];
  const found = findTarget(
    target,
    { ...context, things: wide.things },
    (thing) => meantIn(frame, readingsIn(thing)).length > 0,
  );
  if ("problem" in found) return found;
  const [thing] = found.things;
  const [meant, other] = thing ? meantIn(frame, readingsIn(thing)) : [];
  if (!thing || !meant)
    return {
      problem: { text: phrases.say("notKnownOf", { names: phrases.list(choices(found.things), "and") }) },
    };
  const { period, form } = frame;
  const words = WORDS[meant.state];
  if (!words || other) return notYet;
  const reply = await past({
    agent: thing.id,
    name: thing.name,
    reading: meant.reading.name,
    ask: form === "since" ? "last" : form,
    is: meant.is,
    ...(period !== undefined && { period: periodText(period) }),
    zone,
    sentence: { language: phrases.language, state: phrases.stateWords(words[0])[words[1]] },
  });
  if (!reply) return { problem: { text: phrases.say("pastAway") } };
  return "error" in reply ? notYet : { answer: reply.text, about: [thing.id] };
}

/** As the bridge reads it. */
function periodText(period: PastPeriod): string {
  return period === "day" ? "24 h" : period.replace("_", " ");
}

/** The reading that tells the state, and what its value has to be. */
type Meant = { reading: Reading; state: State; is: string };

/** @returns two where one word says both, as of a fridge that is switched and has a door */
function meantIn({ state, or }: Past, readings: readonly Reading[]): Meant[] {
  return [state, ...(or ? [or] : [])].flatMap((one) => {
    const reading = stateIn(readings, one)?.by;
    const is = reading && valueFor(reading, one);
    return reading && is !== undefined ? [{ reading, state: one, is }] : [];
  });
}

/** Of a number: the comparisons by which `stateIn` reads states. */
const LIMITS: ReadonlyArray<readonly [is: string, yes: number, no: number]> = [
  [">5", 6, 5],
  [">0", 1, 0],
  ["<=5", 5, 6],
  ["<=0", 0, 1],
];

/** @returns the value of this reading by which it is so, in the words of the tool; undefined: there is more than one */
function valueFor({ unavailable: _, ...reading }: Reading, state: State): string | undefined {
  const isSo = (value: Reading["value"]) => {
    const found = stateIn([{ ...reading, value }], state);
    return found?.by.name === reading.name && found.so === true;
  };
  const isNot = (value: Reading["value"]) => stateIn([{ ...reading, value }], state)?.so === false;
  if (isSo(true) && isNot(false)) return "on";
  if (isSo(false) && isNot(true)) return "off";
  const limit = LIMITS.find(([, yes, no]) => isSo(yes) && isNot(no));
  if (limit) return limit[0];
  return isSo(state) ? state : undefined;
}
