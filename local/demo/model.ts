/**
 * The demo home without its publishers: what each device would say, second by second. The same seed and the same commands give the
 * same values.
 */
import { DEVICES, type Kind, type State } from "./house.ts";
import { type DemoEvent, People } from "./people.ts";
import { Physics } from "./physics.ts";
import { SeededRandom } from "./random.ts";

/** Values that a device reports at once when they change. Measured ones wait for their turn. */
const AT_ONCE: Readonly<Record<Kind, (state: State) => unknown>> = {
  light: ({ on, brightness, mireds, xy }) => [on, brightness, mireds, xy],
  plug: ({ on, power = 0 }) => [on, Math.round(Math.log2(power + 8))],
  contact: ({ open }) => open,
  thermometer: () => undefined,
  air: () => undefined,
  cover: ({ position, target }) => [position, target],
  climate: ({ setpoint, mode, isHeating }) => [setpoint, mode, isHeating],
  fan: ({ on, speed }) => [on, speed],
  lock: ({ isLocked }) => isLocked,
  motion: ({ isOccupied }) => isOccupied,
  leak: ({ isWet }) => isWet,
  valve: ({ open }) => open,
  presence: ({ isHome }) => isHome,
};

/** Each device reports so often at least, in seconds. */
const REPORTS_EVERY_S = 15;

export class HouseModel {
  readonly #states: ReadonlyMap<string, State>;
  readonly #people: People;
  readonly #physics: Physics;
  /** What each device has reported of the values of `AT_ONCE`, as JSON. */
  readonly #reported = new Map<string, string>();
  #second = 0;

  /** @param seed a whole number */
  constructor(seed: number) {
    const random = new SeededRandom(seed);
    this.#states = new Map(DEVICES.map(({ name, starts }) => [name, { ...starts }]));
    this.#physics = new Physics(this.#states, random);
    this.#people = new People(this, random);
  }

  /** Seconds of the model since its start. */
  get second(): number {
    return this.#second;
  }

  /** The values of a device now. @throws when there is no such device */
  get(name: string): Readonly<State> {
    const state = this.#states.get(name);
    if (!state) throw new Error(`the demo home has no device named ${name}`);
    return state;
  }

  /** Changes values of a device, as a command or a person does. @throws when there is no such device */
  set(name: string, change: State): void {
    Object.assign(this.get(name), change);
  }

  /** Lets something happen now. */
  happen(event: DemoEvent): void {
    this.#people.happen(event);
  }

  /** Goes on by one second. @returns the devices that report now */
  step(): string[] {
    this.#second += 1;
    this.#physics.step(this.#second, this.#people.step(this.#second));
    return DEVICES.filter(({ name, kind }, at) => {
      const now = JSON.stringify(AT_ONCE[kind](this.get(name))) ?? "";
      const isNews = this.#reported.get(name) !== now;
      this.#reported.set(name, now);
      return isNews || (this.#second + at) % REPORTS_EVERY_S === 0;
    }).map(({ name }) => name);
  }
}
