/** What the programs that publish devices have in common. */
import { DEVICES, type DemoDevice, type Publisher, type State } from "../house.ts";

/** What a program has of the home. */
export type ProgramParts = {
  /** Publishes a text, or an object as JSON. @param retain the broker keeps it */
  say(topic: string, payload: object | string, retain?: boolean): void;
  get(name: string): Readonly<State>;
  /** A command for a device came: it is carried out, or not, as the device does. */
  command(device: DemoDevice, change: State): void;
  /** Epoch ms. */
  now(): number;
};

/** Why a device reports: it was changed by a command, it was asked, or it does so by itself. */
type Reason = "changed" | "asked" | "regular";

export type Program = {
  /** The topics of its commands. */
  topics: readonly string[];
  /** Describes its devices, and says that they are there. */
  announce(): void;
  report(device: DemoDevice, reason: Reason): void;
  /** A message on one of `topics`. */
  receive(topic: string, payload: string): void;
  /** A device came, or is away. */
  online(device: DemoDevice, isOnline: boolean): void;
  /** The device did not answer the command. */
  noAnswer?(device: DemoDevice, change: State): void;
  /** It says goodbye, as its will does. */
  leave(): void;
};

/** The devices of a publisher, in the order of the house. */
export function devicesOf(publisher: Publisher): DemoDevice[] {
  return DEVICES.filter((device) => device.publisher === publisher);
}

/** Six hexadecimal digits that only this device has. */
export function serialOf(device: DemoDevice): string {
  return (0xd30000 + DEVICES.indexOf(device) + 1).toString(16);
}

export function slug(name: string, between: "-" | "_"): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, between);
}

/** @returns the value for ON, OFF and TOGGLE; undefined for any other text */
export function onOrOff(text: string, isOn: boolean | undefined): boolean | undefined {
  const word = text.toUpperCase();
  return word === "ON" ? true : word === "OFF" ? false : word === "TOGGLE" ? !isOn : undefined;
}

/** @returns undefined when it is no JSON object */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

export function rounded(value: number | undefined, digits: number): number {
  return Number((value ?? 0).toFixed(digits));
}
