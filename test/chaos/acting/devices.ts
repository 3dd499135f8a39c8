/**
 * The devices of a house: what sets rules off, and switches that count each command that they get. One client of the broker speaks for
 * all, as a publisher does; it says the states again after each of its connections.
 */
import { connectAsync, type MqttClient } from "mqtt";
import type { DeviceKind } from "./plan.ts";

/** Below each limit, and closed. */
export const LOW = 10;
export const HIGH = 90;
export const LIMIT = 50;

/** A command as a switch got it. `at`: epoch ms of this machine. */
export type SeenCommand = { at: number; device: string; payload: string };
/** A state that a switch reported after a command. */
export type SaidState = { at: number; device: string; state: string };

/** `deaf`: it carries out and reports nothing. `late`: it reports after so many ms. */
export type Behaviour = { is: "plain" | "deaf" } | { is: "late"; ms: number };

/** A device answers after this. */
const REPORTS_AFTER_MS = 15;

export class ActingDevices {
  readonly commands: SeenCommand[] = [];
  readonly states: SaidState[] = [];
  readonly #url: string;
  /** Retained messages by topic. */
  readonly #said = new Map<string, string>();
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #kinds = new Map<string, DeviceKind>();
  #watchers: Array<() => void> = [];
  #client: MqttClient | undefined;
  #away = false;

  constructor(url: string) {
    this.#url = url;
  }

  async connect(): Promise<void> {
    const client = await connectAsync(this.#url, {
      protocolVersion: 4,
      reconnectPeriod: 50,
      clientId: "acting-devices",
      // What was sent to them while the broker was away is lost, as with most devices.
      clean: true,
    });
    this.#client = client;
    client.on("error", () => {});
    client.on("connect", () => this.#again());
    client.on("message", (topic, payload, { dup }) => this.#came(topic, payload.toString("utf8"), dup));
    await client.subscribeAsync("acting/+/set", { qos: 1 });
  }

  /** A sensor with a temperature and a contact, of the rule of this name. */
  addTrigger(name: string, isHigh = false): void {
    const device = { identifiers: [`trigger-${name}`], name: `Sensor ${name}` };
    const availability_topic = "acting/up";
    this.#say(`homeassistant/sensor/t${name}/config`, {
      name: "Temperature",
      unique_id: `t-${name}`,
      state_topic: `acting/t${name}/value`,
      availability_topic,
      device_class: "temperature",
      unit_of_measurement: "°C",
      device,
    });
    this.#say(`homeassistant/binary_sensor/c${name}/config`, {
      name: "Contact",
      unique_id: `c-${name}`,
      state_topic: `acting/c${name}/value`,
      availability_topic,
      device_class: "door",
      device,
    });
    this.number(name, isHigh ? HIGH : LOW);
    this.contact(name, "OFF");
    this.#say("acting/up", this.#away ? "offline" : "online");
  }

  /** A button, beside what the sensor of the rule of this name has. */
  addButton(name: string): void {
    this.#say(`homeassistant/event/b${name}/config`, {
      name: "Button",
      unique_id: `b-${name}`,
      state_topic: `acting/b${name}/event`,
      event_types: ["press"],
      availability_topic: "acting/up",
      device: { identifiers: [`trigger-${name}`], name: `Sensor ${name}` },
    });
  }

  /** What says who is at home, as the bridge's settings name it. Somebody is. */
  addHall(): void {
    this.#say("homeassistant/binary_sensor/hall/config", {
      name: "Occupancy",
      unique_id: "hall",
      state_topic: "acting/hall/value",
      availability_topic: "acting/up",
      device_class: "occupancy",
      device: { identifiers: ["hall"], name: "Hall" },
    });
    this.hall("ON");
  }

  /** A switch. @param id unique, also its device's name behind "Plug " */
  addSwitch(id: string, kind: DeviceKind): void {
    this.#kinds.set(id, kind);
    this.#say(`homeassistant/switch/s${id}/config`, {
      name: null,
      unique_id: `s-${id}`,
      command_topic: `acting/${id}/set`,
      availability_topic: "acting/up",
      ...(kind === "plain" && { state_topic: `acting/${id}/state` }),
      device: { identifiers: [`plug-${id}`], name: `Plug ${id}` },
    });
    if (kind === "plain") this.#say(`acting/${id}/state`, "OFF");
  }

  behave(id: string, behaviour: Behaviour): void {
    this.#behaviours.set(id, behaviour);
  }

  number(name: string, value: number): void {
    this.#say(`acting/t${name}/value`, String(value));
  }

  contact(name: string, is: "ON" | "OFF"): void {
    this.#say(`acting/c${name}/value`, is);
  }

  hall(is: "ON" | "OFF"): void {
    this.#say("acting/hall/value", is);
  }

  /** At most once, and kept by nobody. */
  press(name: string): void {
    const text = JSON.stringify({ event_type: "press" });
    if (this.#client?.connected) this.#client.publish(`acting/b${name}/event`, text, { qos: 0 }, () => {});
  }

  /** The paired agent has carried out an action. It counts as a command. */
  marked(at: number, device: string): void {
    this.commands.push({ at, device, payload: "ON" });
    this.#notify();
  }

  /** The publisher of all of them goes, and takes no command meanwhile. */
  async away(isAway: boolean): Promise<void> {
    this.#away = isAway;
    this.#say("acting/up", isAway ? "offline" : "online");
    const client = this.#client;
    if (isAway) await client?.unsubscribeAsync("acting/+/set").catch(() => {});
    else {
      await client?.subscribeAsync("acting/+/set", { qos: 1 }).catch(() => {});
      this.#again();
    }
  }

  /** Resolves when the next command comes or the next state is reported. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  async stop(): Promise<void> {
    await this.#client?.endAsync(true);
  }

  #came(topic: string, payload: string, dup: boolean): void {
    const [, device = ""] = topic.split("/");
    // The broker's own repetition to this client, whose acknowledgement was lost: no second command.
    if (dup && this.commands.some((one) => one.device === device && one.payload === payload)) return;
    this.commands.push({ at: Date.now(), device, payload });
    this.#notify();
    if (this.#kinds.get(device) !== "plain") return;
    const behaviour = this.#behaviours.get(device) ?? { is: "plain" };
    if (behaviour.is === "deaf") return;
    setTimeout(
      () => {
        this.states.push({ at: Date.now(), device, state: payload });
        this.#say(`acting/${device}/state`, payload);
        this.#notify();
      },
      behaviour.is === "late" ? behaviour.ms : REPORTS_AFTER_MS,
    );
  }

  #notify(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  /** All is said once more, also a state of before: a publisher cannot tell. */
  #again(): void {
    for (const [topic, text] of this.#said) {
      this.#publish(topic, text);
      const [, device = "", what] = topic.split("/");
      if (what === "state") this.states.push({ at: Date.now(), device, state: text });
    }
  }

  #say(topic: string, message: object | string): void {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    this.#said.set(topic, text);
    this.#publish(topic, text);
  }

  #publish(topic: string, text: string): void {
    if (this.#client?.connected) this.#client.publish(topic, text, { qos: 1, retain: true }, () => {});
  }
}
