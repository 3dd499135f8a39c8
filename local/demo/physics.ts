/** What happens in the demo home without people: heat, damp air, used air, and what runs on its plugs. One step is a second. */
import { DEVICES, type DemoDevice, ROOMS, type Room, type State } from "./house.ts";
import type { SeededRandom } from "./random.ts";

/** The values of a room, as its air has them. */
export type Air = { temperature: number; humidity: number; co2: number };

/** What people and scripts tell the physics. */
export type Conditions = {
  /** The freezer's door is not quite closed. */
  isFreezerAjar: boolean;
  /** Seconds since the washing machine's program began; undefined: it is not running. */
  washing: number | undefined;
  isShowering: boolean;
};

const OUTSIDE = ROOMS.find((room) => room.isOutside) as Room;
const DAY_S = 86_400;
/** A room loses or gains the difference to the garden in so many seconds. */
const CLOSED_S = 30_000;
const OPEN_S = 1_800;
/** °C of each second. */
const HEATING = 6 / 3_600;
const FREEZER_WARMS = 0.09;
const FREEZER_COOLS = 0.06;
const FREEZER = { coldest: -18.6, warmest: -9.5 };
const FRIDGE = { cycle: 600, runs: 240 };
/** The washing machine's program: until which second it takes how much power. */
const PROGRAM: ReadonlyArray<readonly [until: number, watts: number]> = [
  [180, 2_050],
  [390, 180],
  [450, 420],
];
export const PROGRAM_S = 450;
const STANDBY_W = 1.2;
const COVER_PERCENT = 5;

export class Physics {
  readonly #air: Map<string, Air>;
  readonly #states: ReadonlyMap<string, State>;
  readonly #random: SeededRandom;

  /** @param states of all devices by name; it changes them */
  constructor(states: ReadonlyMap<string, State>, random: SeededRandom) {
    this.#states = states;
    this.#random = random;
    this.#air = new Map(
      ROOMS.map(({ name, temperature, humidity }) => [name, { temperature, humidity, co2: 480 }]),
    );
    for (const device of DEVICES) this.#measure(device);
  }

  /** @param second since the start */
  step(second: number, conditions: Conditions): void {
    for (const room of ROOMS) this.#breathe(room, second, conditions);
    for (const device of DEVICES) {
      this.#run(device, second, conditions);
      this.#measure(device);
    }
  }

  #breathe(room: Room, second: number, { isShowering }: Conditions): void {
    const air = this.#airOf(room.name);
    if (room.isOutside) {
      air.temperature = room.temperature + 3 * Math.sin((2 * Math.PI * second) / DAY_S);
      return;
    }
    const outside = this.#airOf(OUTSIDE.name);
    const inside = DEVICES.filter((device) => device.room === room.name).map((device) => ({
      device,
      state: this.#stateOf(device.name),
    }));
    const isOpen = inside.some(({ device, state }) => device.kind === "contact" && state.open);
    const isVented = inside.some(({ device, state }) => device.kind === "fan" && state.on);
    const radiator = inside.find(({ device }) => device.kind === "climate")?.state;
    // A room without a radiator of its own is kept as warm as it was.
    const isHeated = radiator ? radiator.isHeating : air.temperature < room.temperature;
    air.temperature += (outside.temperature - air.temperature) / (isOpen ? OPEN_S : CLOSED_S);
    if (isHeated) air.temperature += HEATING;
    const isDamp = isShowering && room.name === "Bathroom";
    const aim = isDamp ? 92 : isOpen ? 60 : room.humidity;
    air.humidity += (aim - air.humidity) / (isDamp ? 240 : isVented ? 200 : 900);
    const used = room.name === "Living room" ? 1_050 : 700;
    air.co2 += ((isOpen ? 450 : used) - air.co2) / (isOpen ? 300 : 2_400);
  }

  #run({ name, kind }: DemoDevice, second: number, { isFreezerAjar, washing }: Conditions): void {
    const state = this.#stateOf(name);
    if (kind === "climate") {
      const { temperature } = this.#airOf(roomOf(name));
      const aim = (state.setpoint ?? 0) + (state.isHeating ? 0.1 : -0.2);
      state.isHeating = state.mode !== "off" && temperature < aim;
    }
    if (kind === "cover" && state.position !== undefined && state.target !== undefined) {
      const way = state.target - state.position;
      state.position += Math.sign(way) * Math.min(Math.abs(way), COVER_PERCENT);
    }
    if (name === "Freezer" && state.temperature !== undefined) {
      const next = state.temperature + (isFreezerAjar ? FREEZER_WARMS : -FREEZER_COOLS);
      state.temperature = Math.min(Math.max(next, FREEZER.coldest), FREEZER.warmest);
    }
    if (name === "Fridge") state.power = state.on ? (second % FRIDGE.cycle < FRIDGE.runs ? 82 : 1.4) : 0;
    if (name === "Washing machine") state.power = state.on ? wattsOf(washing) : 0;
  }

  /** What a device measures of the air around it. */
  #measure({ name, kind, can, room }: DemoDevice): void {
    const state = this.#stateOf(name);
    const air = this.#airOf(room);
    const isMeter = kind === "thermometer" || kind === "air" || kind === "climate";
    if (isMeter && name !== "Freezer") state.temperature = air.temperature + this.#random.around(0.03);
    if (can.includes("humidity")) state.humidity = air.humidity + this.#random.around(0.2);
    if (kind === "air") state.co2 = air.co2 + this.#random.around(4);
  }

  #airOf(room: string): Air {
    return known(this.#air.get(room), room);
  }

  #stateOf(name: string): State {
    return known(this.#states.get(name), name);
  }
}

function wattsOf(washing: number | undefined): number {
  if (washing === undefined) return STANDBY_W;
  return PROGRAM.find(([until]) => washing < until)?.[1] ?? STANDBY_W;
}

function roomOf(name: string): string {
  return known(
    DEVICES.find((device) => device.name === name),
    name,
  ).room;
}

function known<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the demo home has no ${name}`);
  return value;
}
