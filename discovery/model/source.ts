/**
 * The seam between the model and its sources.
 *
 * A source knows how devices describe themselves and how they are reached: by MQTT discovery on a broker, or by a platform that has
 * devices of its own. It gives the model *parts*: entities with the device to which they belong, and with the values that they have
 * now. The model groups them to devices, names their actions, finds what is dangerous, writes plans and judges what comes after a
 * command. It never sees a topic, a template or a service.
 *
 * A source gives:
 * - an `Entity` for each thing, made once from its description. Its commands write `Step`s and say which values, by their slots,
 *   confirm them; a value that nothing reports is named in `unreported`, so it is never called done.
 * - the `Value` of a slot with the number of the message that brought it. All that was there before is `retained`: what a broker had
 *   kept, what a platform says first after a connect, what it restored after its own start. Only values that are neither retained nor
 *   older than the mark confirm a command.
 * - identities in the spelling of `grouping.ts`. Parts of two sources that share one are one device.
 * - what an allowance covers (`Entity.covered`). It has no name that a person may change or give to something else.
 *
 * It is asked how its steps are sent and within what time a device answers (`sending`), what makes a device report (`asks`),
 * what could not be read, the last picture. It tells the model of changes by `SourceEvents`.
 */
import type { PictureKey, SavedState, Snapshot, SourceName } from "./device.ts";
import type { Entity, Step, Value } from "./entity/entity.ts";

/** The device of a part, as its source describes it. */
export type DeviceInfo = {
  /** Identifiers and connections. Parts that share one belong to the same device. */
  identities: string[];
  name?: string;
  manufacturer?: string;
  model?: string;
  area?: string;
  floor?: string;
  /** Other words by which a person finds it. */
  aliases?: string[];
};

/** An entity with what its source has heard of it. */
export interface Part {
  /**
   * Of a group: those that it is judged by, since it says that it is on when one of them is. None of them is a group itself; one that is
   * not known is undefined.
   */
  readonly members?: readonly (Part | undefined)[];
  readonly source: Source;
  readonly entity: Entity;
  readonly device: DeviceInfo;
  /** The program that announces it. */
  readonly publisher: string | undefined;
  /** All that the source was told about it, as JSON: a device that a person has removed comes back when it changes. */
  readonly description: unknown;
  /** Time of its last message (epoch ms). */
  readonly lastSeen: number | null;
  /** It has values, or something says whether it is there: its silence means something. */
  readonly isEverHeard: boolean;
  value(slot: string, now: number): Value | undefined;
  /**
   * The last message that brought the value, or repeated it: until then it is known. A repetition confirms no command. Absent: nothing
   * repeats values.
   */
  knownBy?(slot: string): number;
  /** A value whose time is over, or that has a time and never came. */
  isExpired(slot: string, now: number): boolean;
  /** @returns why it is not there, as a clause; undefined: it is */
  absence(now: number): string | undefined;
  /** It says itself that it is there, and is not only taken for it. */
  isAnnounced(now: number): boolean;
}

/** The source's words about a command that failed. */
export type Failure = { message: number; text: string };

/** A command on its way out, and the source's knowledge of it. */
export type Sending = {
  /** Those of the command, complete. */
  steps: Step[];
  /** True if anything that is sent there comes back as this value, so it proves nothing. */
  isEchoed(slot: string): boolean;
  /** Time in which a device of this kind answers (ms). */
  answersWithinMs: number;
  /** A report counts when it was not taken back for so long (ms): some sources tell a wish before the device has it. Absent: at once. */
  settlesWithinMs?: number;
  /** They make the device report what was asked for; none: it cannot be asked. */
  asks: Step[];
  /** The last failure of the device of which the source was told. */
  failure(): Failure | undefined;
};

export interface Source {
  readonly name: SourceName;
  /**
   * All parts, each once, in an order that does not depend on when they came.
   * @param leave counts what is left out, by the reason
   */
  parts(leave: (why: string, count: number) => void): Part[];
  /** The same entity as it is now, since a new description may have replaced it; undefined: it is gone. */
  partLike(part: Part): Part | undefined;
  /** @returns how steps to this part are sent, or why they cannot be, as the end of a sentence that begins with the message */
  sending(part: Part, steps: readonly Step[]): Sending | { error: string };
  /** Steps that make a device report its values. @param parts of the device @param offered those of them that are offered */
  asks(parts: readonly Part[], offered: readonly Part[]): Step[];
  /** A target of a command in the one spelling by which it is compared. */
  alias(target: string): string;
  /** Values of these parts that came and were not read. */
  unread(parts: readonly Part[]): { what: string; why: string }[];
  /** @returns undefined: none has come */
  picture(part: Part): Snapshot | PictureKey | undefined;
  /** Ends what has a time. It is called before each look at the parts. */
  expire(now: number): void;
  /** The clock was set by so many ms. @returns the parts whose `lastSeen` moved with it */
  clockSet(by: number): Part[];
  /** Descriptions that are known, and what was left out. */
  counts(): { configs: number; ignored: { why: string; count: number }[] };
  /** The states that it wants to have again after a restart, without secrets. */
  saved(): SavedState[];
  /** Before anything has come. */
  restore(states: readonly SavedState[]): void;
}

/** A source tells the model by these. */
export interface SourceEvents {
  /** @returns the number of the last message of all sources */
  last(): number;
  /** A message came. @returns its number */
  next(): number;
  /** Parts came or went, or something that is told of them changed, other than values. */
  changed(): void;
  /** A message of this part came that was not retained. */
  heard(part: Part, now: number): void;
}
