/** Counts how often people are asked in the 30 days, in a home that answers call by call. */
import { AsBefore } from "./as-before.ts";
import { DAYS, type Event, injectedCalls, PEOPLE, replyTo, thirtyDays } from "./workload.ts";

/**
 * The end of a call. `row`: it ran by a standing permission. `press`: by its person's own press. `read`: it changes nothing.
 * `asked`: a person is asked first. `refused`: it never runs.
 */
type Came = "row" | "press" | "read" | "asked" | "refused";

export type HomeToMeasure = {
  call(event: Event): Came | Promise<Came>;
  /** A person says yes to the question of the last call. @param always they keep it, if that is offered */
  approve(event: Event, always: boolean): void | Promise<void>;
};

const MINUTES_A_DAY = 1_440;

const isHarmful = ({ way }: Pick<Event, "way">): boolean => way === "unlock" || way === "script";

/** Questions of each person and day, but those about unlocks and scripts. */
class Counts {
  readonly #asked = new Map(PEOPLE.map(({ name }) => [name, new Array<number>(DAYS).fill(0)]));

  add({ person, at }: Event): void {
    const days = this.#asked.get(person.name);
    const day = Math.floor(at / MINUTES_A_DAY);
    if (days) days[day] = (days[day] ?? 0) + 1;
  }

  figures() {
    const people = [...this.#asked.values()];
    const days = people.flat();
    return {
      total: days.reduce((sum, one) => sum + one, 0),
      median: median(days),
      most: Math.max(...days),
      median_by_week: [0, 7, 14, 21].map((day) => median(people.flatMap((own) => own.slice(day, day + 7)))),
    };
  }
}

function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[sorted.length / 2 - 1] ?? 0) + upper) / 2;
}

/** Lets one event happen, with the person's answer. @param answered questions about each action that each person has answered */
export async function happen(
  home: HomeToMeasure,
  event: Event,
  answered: Map<string, number>,
): Promise<Came> {
  const came = await home.call(event);
  if (came !== "asked" || !event.change) return came;
  const about = `${event.person.name} ${event.change.device} ${event.change.action}`;
  const before = answered.get(about) ?? 0;
  answered.set(about, before + 1);
  // A call after a stranger's text is allowed once: the card folds its lasting choices away.
  const isAlways = !isHarmful(event) && !event.tainted && replyTo(before) === "always";
  await home.approve(event, isAlways);
  return came;
}

/** @returns the figures of the 30 days, of a control that asks as 0.3.0 did, and of calls that are injected after them */
export async function measure(home: HomeToMeasure, seed: number, injected: number) {
  const [ours, control] = [new Counts(), new Counts()];
  const before = new AsBefore();
  const answered = new Map<string, number>();
  const changes = { row: 0, press: 0, asked: 0, refused: 0, read: 0 };
  const harmful = { events: 0, asked: 0, asked_before: 0 };
  let readsAsked = 0;
  for (const event of thirtyDays(seed)) {
    const came = await happen(home, event, answered);
    if (!event.change) readsAsked += came === "asked" ? 1 : 0;
    else if (isHarmful(event)) {
      harmful.events += 1;
      harmful.asked += came === "asked" ? 1 : 0;
      harmful.asked_before += before.asks(event.change, false) ? 1 : 0;
    } else {
      changes[came] += 1;
      if (came === "asked") ours.add(event);
      if (before.asks(event.change, event.tainted === true)) control.add(event);
    }
  }
  let ran = 0;
  for (const { at, person, change } of injectedCalls(seed, injected)) {
    const came = await home.call({
      at: DAYS * MINUTES_A_DAY + at,
      person,
      change,
      way: "sentence",
      tainted: true,
    });
    if (came !== "asked" && came !== "refused") ran += 1;
  }
  const { row, press, asked } = changes;
  return {
    control: control.figures(),
    ours: ours.figures(),
    harmful,
    reads_asked: readsAsked,
    changes: { ...changes, share_by_row: row / (row + press + asked) },
    injected: { calls: injected, ran },
  };
}
