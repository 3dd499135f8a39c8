/**
 * Hosted devices on the socket between bridge and Home: devices that describe themselves on the broker (MQTT discovery), and
 * that the bridge plays as agents. Everything else about them travels as for any agent.
 */
import { z } from "./parse.ts";

/** The word in a bridge's hello by which it says that it can host devices. It sends them only if the welcome allows it. */
export const DEVICES_FEATURE = "devices";
/** A hosted device's `agent_type`, and the feature in its advert. */
export const HOSTED_TYPE = "mqtt-device";
export const HOSTED_FEATURE = "hosted";

/** Hosted devices of one home, and readings of one device. */
export const DEVICES_MAX = 600;
/** Of them in one frame: a gateway of 0.4 takes no more. */
export const DEVICES_A_FRAME_MAX = 300;
export const READINGS_MAX = 256;

/** Why an action that changes a setting of a device asks each time, and is not offered by itself. */
export const IS_SETTING = "it is a setting of the device";

const text = (max: number) => z.string().check(z.maxLength(max));

/** Of a device's identifiers, so that it survives new names and ids. */
export const DeviceKey = z.string().check(z.regex(/^[A-Za-z0-9_-]{8,64}$/));

/** The part of an agent's state that only a hosted device has. Names and words are the publisher's, so a stranger's. */
export const HostedState = z.object({
  key: DeviceKey,
  /** Hash of what a person's permission covers: identifiers, kinds, and everything that can change a message. */
  allow: z.string().check(z.minLength(1), z.maxLength(64)),
  /** The hash of 0.3, where it covers the same; null: it may not. A bridge of 0.3 does not send it. */
  allow_before: z.optional(z.nullable(z.string().check(z.minLength(1), z.maxLength(64)))),
  /** The bridge's setting: changes are refused unless a person allowed the device, or the first one asks. */
  mode: z.enum(["read", "allow"]),
  name: z.string().check(z.minLength(1), z.maxLength(100)),
  area: z.optional(text(64)),
  /** Where the area is: `Upstairs`. It is found by this word too, and by each of `aliases`. */
  floor: z.optional(text(64)),
  aliases: z.optional(z.array(text(40)).check(z.maxLength(8))),
  model: z.optional(text(100)),
  /** The program that described it: `Zigbee2MQTT`. */
  publisher: z.optional(text(64)),
  not_offered: z.optional(z.array(z.object({ what: text(100), why: text(200) })).check(z.maxLength(20))),
});
export type HostedState = z.infer<typeof HostedState>;

/** A value that a device has reported. */
export const Reading = z.object({
  name: text(100),
  value: z.nullable(z.union([text(500), z.number(), z.boolean()])),
  /** The value in words, with its unit: `open`, `21.4 °C`. */
  text: text(500),
  unit: z.optional(text(32)),
  /** `sensor`, `binary_sensor`, `cover`. */
  kind: text(32),
  /** The device class: `battery`, `window`. */
  class: z.optional(text(64)),
  /** Epoch ms at which the bridge received it; null: never, or at an unknown time. */
  at: z.nullable(z.number()),
  unavailable: z.optional(z.boolean()),
  /** Free text, which a stranger may have written. Numbers, booleans and values of a fixed list are not. */
  tainted: z.boolean(),
});
export type Reading = z.infer<typeof Reading>;

/** What a device itself reported after a command: as a reading, and never free text. */
export const ReportedValue = z.object({
  /** Of several: `brightness`. Absent: it is what the device is about. */
  label: z.optional(text(100)),
  value: z.union([text(100), z.number(), z.boolean()]),
  unit: z.optional(text(32)),
  kind: text(32),
  class: z.optional(text(64)),
});
export type ReportedValue = z.infer<typeof ReportedValue>;
export const REPORTED_MAX = 8;

/** Descriptions of the broker's publishers that the bridge left out, by the reason. */
export const LeftOut = z.object({ why: text(200), count: z.int().check(z.minimum(1)) });
export type LeftOut = z.infer<typeof LeftOut>;
export const LEFT_OUT_MAX = 50;

/** The last reports of one device. */
export const DeviceReadings = z.object({
  /** Its agent id. */
  id: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)),
  online: z.boolean(),
  readings: z.array(Reading).check(z.maxLength(READINGS_MAX)),
});
export type DeviceReadings = z.infer<typeof DeviceReadings>;
