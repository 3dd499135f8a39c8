/**
 * An entity: one thing of a device that is read or changed. Its slots keep what messages say, its readings tell it, and its
 * commands write what changes it. The files in ../kinds/ make an entity of each kind of config.
 */

import type { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Config } from "../config/fields.ts";
import type { Message } from "../states/message.ts";
import type { Unreadable } from "../states/templates.ts";

/** A value that a message gave: null is "unknown"; a list of numbers is a colour. */
export type SlotValue = string | boolean | null | Quantity | readonly number[];

/** One value of an entity, and the topic that brings it. */
export type Slot = {
  name: string;
  topic: string;
  /** @returns undefined: this message says nothing about it */
  read: (message: Message) => SlotValue | Unreadable | undefined;
  /** Its template cannot be used, so no message of it can be read. */
  unreadable?: true;
  /** The value holds for so many seconds. */
  expireAfter?: number;
  /** After so many seconds, true becomes false by itself. */
  offDelay?: number;
  /** Messages that the broker kept say nothing: an event is over. */
  live?: true;
  /** It is told beside the entity's value, and says nothing of how old that is. */
  beside?: true;
};

export type Value = {
  value: SlotValue;
  /** Why the message cannot be read. The value is null then. */
  unreadable?: string;
  /** Time at which it was reported; null: unknown. */
  at: number | null;
  /** Time at which it came here. */
  heard: number;
  /** Number of the message that brought it. */
  message: number;
  retained: boolean;
};

/** The words and the name of a value. */
export type ReadingSpec = {
  slot: string;
  /** undefined: it is what the entity is about, and has the entity's name. */
  label?: string;
  unit?: string;
  words: (value: SlotValue) => string;
  /** A text of the publisher's own choice, or a picture. */
  free: boolean;
  /** Tells whether there is such a value now: a light that is off has no brightness. Absent: always. */
  isThere?: (value: (slot: string) => SlotValue | undefined) => boolean;
  /** Its value is JSON of fields, of which each is a reading. */
  fields?: true;
  /** Its value leaves the catalog in no form. */
  secret?: true;
};

/** A parameter of an action, as JSON Schema. */
export type Parameter =
  | { type: "boolean"; description?: string }
  | { type: "integer" | "number"; minimum: number; maximum: number; description?: string }
  | { type: "string"; enum: readonly string[]; description?: string }
  | {
      type: "string";
      minLength?: number;
      maxLength: number;
      pattern?: string;
      description?: string;
      writeOnly?: true;
    }
  | {
      type: "array";
      items: { type: "integer"; minimum: number; maximum: number };
      minItems: number;
      maxItems: number;
      description?: string;
    };

export type Parameters = Readonly<Record<string, unknown>>;

/** A condition on the states that come after a command: all of them have to be met for it to be confirmed. */
export type Expectation = {
  /** The slots that may say it. A message after the command has to bring one of them. */
  slots: readonly string[];
  /** The value that was asked for, as words: `on`, `brightness 40 %`. */
  words: string;
  /** @param fresh only values that came after the command; `before` had been there then */
  met: (fresh: Values, before: Values) => boolean;
};

export type Values = (slot: string) => Value | undefined;

/** Messages that carry a command out. */
export type Run = {
  messages: { topic: string; payload: string }[];
  expects: Expectation[];
  /** Values that were asked for and that no topic reports, as words. */
  unreported: string[];
  /** Time that the device takes for itself (a transition), beyond the usual wait. */
  extraMs?: number;
};

export type Command = {
  /** The action's name before the entity's is added. */
  action: string;
  /** A sentence without the entity's name. */
  description: string;
  parameters: Readonly<Record<string, Parameter>>;
  required: readonly string[];
  /** All that it may be asked for at once; at least one has to be there. */
  anyOf?: true;
  idempotent: boolean;
  /** The reason for which it is dangerous in itself. */
  danger?: string;
  /** It stays harmless although its entity is not: locking a lock, ending an alarm. */
  harmless?: true;
  wait: "value" | "cover" | "vacuum";
  /** At most so much more, where it is asked to take its time. */
  extraMs?: number;
  /** Each topic that it may publish to. */
  topics: readonly string[];
  run: (parameters: Parameters, values: Values) => Run | { error: string };
};

/** Something of an entity that is not offered, with the reason. `unread`: it would be a value. */
export type Left = { what: string; why: string; unread?: true };

/** Topics that say whether the entity is there. */
export type Availability = {
  mode: "latest" | "all" | "any";
  entries: { topic: string; read: (message: Message) => boolean | undefined }[];
};

export type Entity = {
  kind: string;
  /** Of all entities of its kind. */
  unique: string;
  config: Config;
  /** Its own name; undefined when it is what the device is. */
  name?: string;
  /** Its name, or else its class or kind in words. */
  title: string;
  class?: string;
  /** Not offered by default: diagnostic, a setting, or disabled by default. */
  aside?: string;
  /** A setting of the device (`entity_category: config`). */
  isSetting: boolean;
  qos: 0 | 1 | 2;
  retain: boolean;
  slots: Slot[];
  readings: ReadingSpec[];
  commands: Command[];
  /** In the device's line, behind the kind: `position`. */
  details: string[];
  left: Left[];
  /** Names that its command templates mention, with their values; undefined: they mention none. */
  variables?: Readonly<Record<string, unknown>>;
  availability: Availability;
  /** The reason for which the entity is dangerous as a whole. */
  danger?: string;
};
