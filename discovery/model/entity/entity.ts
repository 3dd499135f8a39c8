/**
 * An entity: one thing of a device that is read or changed. Its slots keep what its source says, its readings tell it, and its
 * commands write what changes it. Each source makes its entities.
 */

import type { Quantity } from "@edgecall/core/text/quantity.ts";

/** A value that a message gave: null is "unknown"; a list of numbers is a colour. */
export type SlotValue = string | boolean | null | Quantity | readonly number[];

/** A message on a broker. */
export type Publish = { topic: string; payload: string; qos?: 0 | 1 | 2; retain?: boolean };

/** A service that is called for one entity, which its source knows by this key: its name may change until the call. */
export type ServiceCall = {
  domain: string;
  service: string;
  data: Readonly<Record<string, unknown>>;
  entity: string;
};

/** One thing that is sent: its source wrote it, and knows how to send it. */
export type Step = Publish | ServiceCall;

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
  /** Its value is JSON of fields, of which each is a reading. The text is the place they come from, which is told once for a device. */
  fields?: string;
  /** Its value leaves the model in no form. */
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
  /** The device says that it does not get there: a lock is jammed. Its words are then told without waiting on. Absent: it never does. */
  fails?: (fresh: Values) => boolean;
};

export type Values = (slot: string) => Value | undefined;

/** A command's steps, and the values that confirm them. */
export type Run = {
  /** In this order. */
  steps: Step[];
  expects: Expectation[];
  /** Values that were asked for and that nothing reports, as words. */
  unreported: string[];
  /** Time that the device takes for itself (a transition), beyond the usual wait. */
  extraMs?: number;
};

/** What is waited for: a value, or what takes its own time. */
export type Wait = "value" | "cover" | "alarm" | "vacuum" | "update";

/** Something that is read by asking the source for it, and not from a state. What it answers is strangers' words. */
export type Query = {
  /** The action's name before the entity's is added. */
  action: string;
  description: string;
  parameters: Readonly<Record<string, Parameter>>;
  /** The call whose answer has it. @param now epoch ms */
  ask: (parameters: Parameters, now: number) => ServiceCall;
  /** The answer in words, of at most some hundred tokens. @param response of the entity that was asked */
  words: (response: unknown, now: number) => string;
};

/** A question about the past, between two times (ISO 8601), of the entity that its source knows by this key. */
export type Past = { pastOf: string; from: string; to: string };

/** What the entity is about, as its source kept it. Times are epoch ms. */
export type History = {
  /** Its source is asked for no longer time. */
  reachMs: number;
  ask: (from: number, to: number) => Past;
  /** In the order of their times. null: it was not known. */
  values: (response: unknown) => { at: number; value: SlotValue }[];
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
  /** The state that it ends in stays: a device that reports another one right after takes back what it said. */
  lasting?: true;
  /** It may change other devices too, as a scene does. */
  changesOthers?: true;
  wait: Wait;
  /** At most so much more, where it is asked to take its time. */
  extraMs?: number;
  /** Each place that it may send to, in the words of its source. What shares one with a dangerous command is dangerous too. */
  targets: readonly string[];
  run: (parameters: Parameters, values: Values) => Run | { error: string };
};

/** Something of an entity that is not offered, with the reason. `unread`: it would be a value. */
export type Left = { what: string; why: string; unread?: true };

export type Entity = {
  kind: string;
  /** Of all entities of its kind. It survives renames. */
  unique: string;
  /** Its own name; undefined when it is what the device is. */
  name?: string;
  /** The same as it came, which is read for words of danger alone. */
  wholeName?: string;
  /** Its name, or else its class or kind in words. */
  title: string;
  class?: string;
  /** Not offered by default: diagnostic, a setting, or disabled by default. */
  aside?: string;
  /** It changes a setting of the device. */
  isSetting: boolean;
  /** Its source keeps a command, and the device gets it again when it comes back. */
  retain: boolean;
  /** Names of its values. */
  slots: readonly { name: string }[];
  readings: ReadingSpec[];
  commands: Command[];
  queries?: Query[];
  /** Absent: its source keeps none. */
  history?: History;
  /** The time in which it answers (ms), where that is longer than usual. */
  answersWithinMs?: number;
  /** In the device's line, behind the kind: `position`. */
  details: string[];
  left: Left[];
  /** It has a picture, which its source is asked for. */
  hasPicture?: true;
  /** Errors about its parameters quote its own texts, and one of these is more than a label. */
  taintsErrors?: true;
  /** All of its source's description that decides what a command does: an allowance ends when it changes. */
  covered: () => Readonly<Record<string, unknown>>;
  /** The same as 0.3 had it; undefined: 0.3 may have allowed something else. */
  coveredBefore: () => Readonly<Record<string, unknown>> | undefined;
  /** The reason for which the entity is dangerous as a whole. */
  danger?: string;
};
