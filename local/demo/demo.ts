/**
 * A simulated house on an MQTT broker, for `npm start -- --demo`, for tests and for measurements. What it publishes has the shapes of
 * zigbee2mqtt, ESPHome, Tasmota and rtl_433, so nothing that reads it can tell it from a real one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connectAsync } from "mqtt";
import { type DemoClock, realClock } from "./clock.ts";
import { DEVICES, type DemoDevice, type Publisher, type State } from "./house.ts";
import { HouseModel } from "./model.ts";
import type { DemoEvent } from "./people.ts";
import { esphome } from "./publishers/esphome.ts";
import type { Program, ProgramParts } from "./publishers/program.ts";
import { rtl433 } from "./publishers/rtl-433.ts";
import { tasmota } from "./publishers/tasmota.ts";
import { zigbee2mqtt } from "./publishers/zigbee2mqtt.ts";

/** A device carries a command out within so many ms. */
const ANSWERS_AFTER_MS = 20;
/** Zigbee2mqtt gives a device that does not answer up after so many ms. */
const GIVES_UP_AFTER_MS = 2_500;
const TICK_MS = 100;
const GOODBYE_MS = 1_000;
/** Whoever reads the descriptions needs a moment to subscribe to the states. */
const FIRST_REPORTS_MS: readonly number[] = [500, 2_000];

export type DemoOptions = {
  /** The broker's address, such as mqtt://127.0.0.1:1883. */
  url: string;
  /** The same seed gives the same house, second by second. A whole number. */
  seed?: number;
  /** Seconds of the house for each second of the clock. */
  speed?: number;
  clock?: DemoClock;
};

/** What the house publishes, in order. */
export type DemoMessage = { topic: string; payload: string; retain: boolean };

export type DemoHome = {
  /** Seconds of the house since its start. */
  second(): number;
  /** The values of a device now. @throws when there is no such device */
  get(name: string): Readonly<State>;
  /** Changes a device by hand, as a person in the house does; it reports at once. @throws when there is no such device */
  change(name: string, change: State): void;
  /** Lets something happen now. */
  happen(event: DemoEvent): void;
  /** A device is away, or comes back. */
  online(name: string, isOnline: boolean): void;
  stop(): Promise<void>;
};

/** Starts the house. Resolves when all is described. @throws when the broker cannot be reached */
export async function startDemoHome({ url, ...options }: DemoOptions): Promise<DemoHome> {
  const client = await connectAsync(url, {
    clientId: `demo-home-${crypto.randomUUID().slice(0, 8)}`,
    protocolVersion: 4,
    resubscribe: false,
  });
  client.on("error", () => {});
  let last: Promise<unknown> = Promise.resolve();
  const home = new SimulatedHome(options, ({ topic, payload, retain }) => {
    // What happens while the broker is away is told by the next report.
    if (client.connected) last = client.publishAsync(topic, payload, { qos: 1, retain }).catch(() => {});
  });
  client.on("message", (topic, payload, { retain }) => {
    if (!retain) home.receive(topic, payload.toString("utf8"));
  });
  await client.subscribeAsync(home.topics, { qos: 1 });
  home.begin();
  // A broker that comes back may have forgotten all of it.
  client.on("connect", () => client.subscribe(home.topics, { qos: 1 }, () => home.announce()));
  return {
    second: () => home.second,
    get: (name) => home.get(name),
    change: (name, change) => home.change(name, change),
    happen: (event) => home.happen(event),
    online: (name, isOnline) => home.online(name, isOnline),
    async stop() {
      home.end();
      // A broker that is gone acknowledges nothing any more.
      await Promise.race([last, sleep(GOODBYE_MS)]);
      await client.endAsync(true);
    },
  };
}

/** The house without a connection: it takes messages and publishes others. */
export class SimulatedHome {
  readonly #model: HouseModel;
  readonly #clock: DemoClock;
  readonly #speed: number;
  readonly #programs: ReadonlyMap<Publisher, Program>;
  readonly #timers = new Set<() => void>();
  readonly #away = new Set<DemoDevice>();
  /** Seconds of the house that are due. */
  #due = 0;

  constructor(
    { seed = 1, speed = 1, clock = realClock }: Omit<DemoOptions, "url">,
    publish: (message: DemoMessage) => void,
  ) {
    this.#model = new HouseModel(seed);
    this.#clock = clock;
    this.#speed = speed;
    const parts: ProgramParts = {
      say: (topic, message, retain = false) =>
        publish({ topic, payload: typeof message === "string" ? message : JSON.stringify(message), retain }),
      get: (name) => this.#model.get(name),
      command: (device, change) => this.#command(device, change),
      now: () => clock.now(),
    };
    this.#programs = new Map<Publisher, Program>([
      ["zigbee2mqtt", zigbee2mqtt(parts)],
      ["esphome", esphome(parts)],
      ["tasmota", tasmota(parts)],
      ["rtl_433", rtl433(parts)],
    ]);
  }

  get topics(): string[] {
    return [...this.#programs.values()].flatMap(({ topics }) => topics);
  }

  get second(): number {
    return this.#model.second;
  }

  /** Describes all devices, and lets the time go on. */
  begin(): void {
    this.announce();
    const tick = () => {
      this.#due += (this.#speed * TICK_MS) / 1_000;
      for (; this.#due >= 1; this.#due -= 1)
        for (const name of this.#model.step()) this.#report(deviceNamed(name), "regular");
      this.#after(TICK_MS, tick);
    };
    this.#after(TICK_MS, tick);
  }

  /** Describes all devices, and has them report: at the start, and to a broker that may have forgotten. */
  announce(): void {
    for (const program of this.#programs.values()) program.announce();
    for (const device of this.#away) this.#programOf(device).online(device, false);
    for (const ms of FIRST_REPORTS_MS)
      this.#after(ms, () => {
        for (const device of DEVICES) this.#report(device, "regular");
      });
  }

  end(): void {
    for (const callOff of this.#timers) callOff();
    for (const program of this.#programs.values()) program.leave();
  }

  receive(topic: string, payload: string): void {
    // Each knows its own topics.
    for (const program of this.#programs.values())
      if (program.topics.some((filter) => fits(filter, topic))) program.receive(topic, payload);
  }

  get(name: string): Readonly<State> {
    return this.#model.get(name);
  }

  change(name: string, change: State): void {
    this.#model.set(name, change);
    this.#report(deviceNamed(name), "regular");
  }

  happen(event: DemoEvent): void {
    this.#model.happen(event);
  }

  online(name: string, isOnline: boolean): void {
    const device = deviceNamed(name);
    if (isOnline) this.#away.delete(device);
    else this.#away.add(device);
    this.#programOf(device).online(device, isOnline);
    if (isOnline) this.#report(device, "regular");
  }

  #command(device: DemoDevice, change: State): void {
    const program = this.#programOf(device);
    if (device.fault === "dead" || this.#away.has(device)) {
      this.#after(GIVES_UP_AFTER_MS, () => program.noAnswer?.(device, change));
      return;
    }
    this.#after(ANSWERS_AFTER_MS, () => {
      const before = { ...this.#model.get(device.name) };
      this.#model.set(device.name, change);
      program.report(device, "changed");
      if (device.fault !== "lies") return;
      this.#model.set(device.name, before);
      program.report(device, "changed");
    });
  }

  #report(device: DemoDevice, reason: "regular"): void {
    if (!this.#away.has(device)) this.#programOf(device).report(device, reason);
  }

  #programOf({ publisher }: DemoDevice): Program {
    const program = this.#programs.get(publisher);
    if (!program) throw new Error(`the demo home has no ${publisher}`);
    return program;
  }

  #after(ms: number, run: () => void): void {
    const callOff = this.#clock.after(ms, () => {
      this.#timers.delete(callOff);
      run();
    });
    this.#timers.add(callOff);
  }
}

function deviceNamed(name: string): DemoDevice {
  const device = DEVICES.find((one) => one.name === name);
  if (!device) throw new Error(`the demo home has no device named ${name}`);
  return device;
}

/** A `+` stands for one level. */
function fits(filter: string, topic: string): boolean {
  const [wanted, given] = [filter.split("/"), topic.split("/")];
  return wanted.length === given.length && wanted.every((level, at) => level === "+" || level === given[at]);
}
