/** The people of the demo home, and what they leave open. A part of it is written down, so that each start shows it within a minute. */
import type { State } from "./house.ts";
import { type Conditions, PROGRAM_S } from "./physics.ts";
import type { SeededRandom } from "./random.ts";

/** What a test or a person may let happen. */
export type DemoEvent =
  | "someone comes"
  | "gate motion"
  | "freezer left ajar"
  | "freezer closed"
  | "washing starts"
  | "washing ends"
  | "shower"
  | "leak"
  | "leak dried"
  | "all leave"
  | "all are back";

/** Seconds since the start: the washing machine has run for so long when the home begins. */
const WASHED_BEFORE_S = PROGRAM_S - 80;
const WASHING_EVERY_S = 900;
/** A watch wants a value for a minute before it speaks. */
const FREEZER = { first: 20, ajar: 150, every: 600 };
const GATE_FIRST_S = 45;
const WINDOW_FIRST_S = 55;
const OCCUPIED_S = { gate: 20, hall: 40 };
/** The leak sensor is wet for a minute. A rule that closes the water needs one. */
const LEAK = { first: 900, lasts: 60, every: 3_600 };
/** All leave for 20 minutes. Nobody is at home once that has been so for ten; then the door swings open, for longer than a rule waits. */
const ABSENCE = { first: 1_200, lasts: 1_200, every: 3_600, opens: 660, closes: 1_080 };
const SHOWER = { first: 240, lasts: 300, every: 3_000 };
/** Means of what comes by chance. */
const MEAN_S = { gate: 110, hall: 150, window: 420 };
const WINDOWS = ["Kitchen window", "Living room window", "Bedroom window"];

type Planned = { at: number; run: () => void };

export class People {
  readonly #set: (name: string, change: State) => void;
  readonly #get: (name: string) => Readonly<State>;
  readonly #random: SeededRandom;
  #planned: Planned[] = [];
  readonly #occupiedUntil = new Map<string, number>();
  #now = 0;
  #washingSince: number | undefined = -WASHED_BEFORE_S;
  #isFreezerAjar = false;
  #isShowering = false;
  #isAway = false;

  constructor(
    devices: { set(name: string, change: State): void; get(name: string): Readonly<State> },
    random: SeededRandom,
  ) {
    this.#set = (name, change) => devices.set(name, change);
    this.#get = (name) => devices.get(name);
    this.#random = random;
    this.#in(GATE_FIRST_S, () => this.#passGate());
    this.#in(random.whole(50, 70), () => this.#passHall());
    this.#in(FREEZER.first, () => this.#leaveFreezer());
    this.#in(WASHING_EVERY_S, () => this.#wash());
    this.#in(SHOWER.first, () => this.#shower());
    this.#in(LEAK.first, () => this.#leak());
    this.#in(ABSENCE.first, () => this.#leave());
    for (const [at, window] of WINDOWS.entries())
      this.#in(WINDOW_FIRST_S + at * random.whole(60, 200), () => this.#turnWindow(window));
  }

  /** @param second since the start @returns what of it the physics have to know */
  step(second: number): Conditions {
    this.#now = second;
    const due = this.#planned.filter(({ at }) => at <= second);
    this.#planned = this.#planned.filter(({ at }) => at > second);
    for (const { run } of due.sort((a, b) => a.at - b.at)) run();
    const washing = this.#washingSince === undefined ? undefined : second - this.#washingSince;
    if (washing !== undefined && washing >= PROGRAM_S) this.#washingSince = undefined;
    return { isFreezerAjar: this.#isFreezerAjar, washing, isShowering: this.#isShowering };
  }

  /** Lets something happen now. */
  happen(event: DemoEvent): void {
    switch (event) {
      case "someone comes":
        this.#comeHome();
        break;
      case "gate motion":
        this.#occupy("Gate motion", OCCUPIED_S.gate);
        break;
      case "freezer left ajar":
      case "freezer closed":
        this.#isFreezerAjar = event === "freezer left ajar";
        break;
      case "washing starts":
      case "washing ends":
        this.#washingSince = event === "washing starts" ? this.#now : undefined;
        break;
      case "shower":
        this.#takeShower();
        break;
      case "leak":
      case "leak dried":
        this.#set("Leak sensor", { isWet: event === "leak" });
        break;
      case "all leave":
      case "all are back":
        this.#away(event === "all leave");
        break;
    }
  }

  #in(seconds: number, run: () => void): void {
    this.#planned.push({ at: this.#now + seconds, run });
  }

  #passGate(): void {
    this.#occupy("Gate motion", OCCUPIED_S.gate);
    // Every other one comes in.
    if (this.#random.next() < 0.5) this.#in(12, () => !this.#isAway && this.#comeHome());
    this.#in(OCCUPIED_S.gate + this.#random.wait(MEAN_S.gate), () => this.#passGate());
  }

  #passHall(): void {
    if (!this.#isAway) this.#occupy("Hall motion", OCCUPIED_S.hall);
    this.#in(OCCUPIED_S.hall + this.#random.wait(MEAN_S.hall), () => this.#passHall());
  }

  #leave(): void {
    this.#away(true);
    this.#in(ABSENCE.opens, () => this.#set("Door contact", { open: true }));
    this.#in(ABSENCE.closes, () => this.#set("Door contact", { open: false }));
    this.#in(ABSENCE.lasts, () => this.#away(false));
    this.#in(ABSENCE.every, () => this.#leave());
  }

  #away(isAway: boolean): void {
    this.#isAway = isAway;
    this.#set("Phone", { isHome: !isAway });
  }

  #leak(): void {
    this.#set("Leak sensor", { isWet: true });
    this.#in(LEAK.lasts, () => this.#set("Leak sensor", { isWet: false }));
    this.#in(LEAK.every, () => this.#leak());
  }

  /** Whoever finds the door locked locks it again. */
  #comeHome(): void {
    const wasLocked = this.#get("Front door").isLocked;
    if (wasLocked) this.#set("Front door", { isLocked: false });
    this.#in(2, () => this.#set("Door contact", { open: true }));
    this.#in(3, () => this.#occupy("Hall motion", OCCUPIED_S.hall));
    this.#in(8, () => this.#set("Door contact", { open: false }));
    if (wasLocked) this.#in(11, () => this.#set("Front door", { isLocked: true }));
  }

  #leaveFreezer(): void {
    this.#isFreezerAjar = true;
    this.#in(FREEZER.ajar, () => {
      this.#isFreezerAjar = false;
    });
    this.#in(FREEZER.every, () => this.#leaveFreezer());
  }

  #wash(): void {
    this.#washingSince = this.#now;
    this.#in(WASHING_EVERY_S, () => this.#wash());
  }

  #shower(): void {
    this.#takeShower();
    this.#in(SHOWER.every, () => this.#shower());
  }

  #takeShower(): void {
    this.#isShowering = true;
    this.#in(SHOWER.lasts, () => {
      this.#isShowering = false;
    });
  }

  #turnWindow(window: string): void {
    this.#set(window, { open: !this.#get(window).open });
    this.#in(this.#random.wait(MEAN_S.window), () => this.#turnWindow(window));
  }

  /** A second person keeps the sensor on for longer. */
  #occupy(sensor: string, seconds: number): void {
    const until = this.#now + seconds;
    this.#occupiedUntil.set(sensor, until);
    this.#set(sensor, { isOccupied: true });
    this.#in(seconds, () => {
      if (this.#occupiedUntil.get(sensor) === until) this.#set(sensor, { isOccupied: false });
    });
  }
}
