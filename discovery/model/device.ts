/**
 * Devices of which a source tells, as the agents that the bridge hosts.
 *
 * Each text in here that a source passes on (names, areas, models, units, values) is a claim of a stranger, such as a thief of the
 * broker's password. It is bounded, on one line and without invisible characters, and it is never an instruction.
 */
import type { ReportedValue } from "@edgecall/core/protocol/devices.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import type { History, ServiceCall, Step } from "./entity/entity.ts";

/**
 * `danger`: a person is asked each time, and `danger_why` says why. `retained`: its source keeps the command, and the device gets it
 * again when it comes back. `setting`: it changes a setting, and is not offered unless a person wants that.
 */
export type DeviceAction = ActionAdvert & {
  danger?: true;
  danger_why?: string;
  retained?: true;
  setting?: true;
};

/** Where a device is reached. */
export type SourceName = "mqtt" | "home-assistant";

export type HostedDevice = {
  source: SourceName;
  /** Of the device's identifiers. It survives renames, and restarts where the table of `dump()` is kept. */
  key: string;
  /** The agent's id, from the first name that was seen. */
  id: string;
  name: string;
  /** As its source has it. */
  area?: string;
  floor?: string;
  /** Other words by which it is found. */
  aliases?: string[];
  model?: string;
  /** The program that announces it, such as `Zigbee2MQTT`. */
  publisher?: string;
  /** At most LINE_MAX characters: kinds and classes, area, model. */
  line: string;
  /** Of the entities that are offered, without repetition: `light`, `sensor`. */
  kinds: string[];
  online: boolean;
  /** The reason for which it is offline. */
  reason?: string;
  /** Time of its last message, retained ones not counted (epoch ms). */
  lastSeen: number | null;
  /** `read` is the first. */
  actions: DeviceAction[];
  /** Actions that change a setting of it. Only those devices offer them for which a person wants it. */
  settings?: DeviceAction[];
  /** Of everything that decides what an action does. An allowance holds for this hash alone. */
  allowHash: string;
  /** The hash by which 0.3 knew the device, where it covered the same; null: what was allowed then may be something else. */
  allowHashBefore: string | null;
  /** Neither a state nor an availability came for GHOST_AFTER_MS. */
  ghost: boolean;
  /** Entities and actions that are left out, with the reason. */
  notOffered: { what: string; why: string }[];
};

export type Reading = {
  name: string;
  value: string | number | boolean | null;
  /** In the words of its class, with the unit: `21.6 °C`, `open`. */
  text: string;
  unit?: string;
  kind: string;
  class?: string;
  /** Time at which it was reported (epoch ms); null: unknown, since the broker had kept it. */
  at: number | null;
  /** The device, or this value, counts as unavailable. */
  unavailable?: true;
  /** It is a stranger's free text. */
  tainted: boolean;
};

/**
 * A reading with the message that brought its value. `retained`: it was kept from before, so it is no news. `known`: the last message that
 * brought the value or repeated it.
 */
export type SourcedReading = Reading &
  Pick<Mark, "message"> & { retained: boolean; known: number; from: SourceName };

/** A moment in the stream of messages, from `KnownDevices.mark()`. */
export type Mark = {
  /** Messages before this one are older than the mark. */
  message: number;
  /** Epoch ms. */
  at: number;
};

/** A change as steps, and the judgement of it. Take the mark before the first one is sent. */
export type Plan = {
  /** In this order. */
  steps: Step[];
  /** To be sent when half of the time is over: its source then reads the value from the device. */
  ask?: Step[];
  waitMs: number;
  /** A confirmation counts when it holds for so long (ms). */
  settleMs: number;
  /**
   * Judged after each message: a text when a state that came after the mark, and was not retained, has each value that was
   * asked for. null: nothing reports the value, so it can never be confirmed.
   */
  confirm: ((since: Mark) => Confirmed | undefined) | null;
  /** The source's own error about this device since the mark, quoted. The wait can end then. */
  failure: (since: Mark) => string | undefined;
  /** The device reports since the mark that it does not get there, as a lock that jams. The wait can end then. */
  reportsFailure: (since: Mark) => boolean;
  /** Words for a command that was sent and not confirmed, with the failure where there is one. */
  unconfirmed: (since: Mark) => string;
  /**
   * Words for a command that was confirmed, when the device has reported since that it is otherwise; undefined: it has not, or the state
   * that the command ends in passes by itself.
   */
  takenBack: (since: Mark) => string | undefined;
  /** Each place that it sends to, in the words of its source: another command to one of them changes the same. */
  targets: readonly string[];
  /** It may change other devices too. */
  changesOthers: boolean;
  /** Values of what it changes that the device reported since the mark: those that confirm it, or others. */
  reported: (since: Mark) => ReportedValue[];
  /** The source keeps the command, and the device gets it again when it comes back. */
  retainedCommand: boolean;
  /** Names of the readings that it may change. */
  readings: readonly string[];
};

type Confirmed = { text: string };

/** `offline`: nothing can be sent now, since the device counts as unavailable. `tainted`: it may quote options that read like orders. */
export type PlanError = { error: string; offline?: true; tainted?: true };

/** A question to a source, and how its answer is told. It holds strangers' words. */
export type Asked = {
  source: SourceName;
  call: ServiceCall;
  words: (response: unknown) => string;
};

/** The past of a reading that its source keeps by itself. */
export type EarlierPast = Pick<History, "reachMs" | "ask"> & {
  source: SourceName;
  /** In the order of their times (epoch ms). null: it was not known. */
  values: (response: unknown) => { at: number; value: Reading["value"] }[];
};

/** A picture that is not sent by itself: its source is asked for it by this key. */
export type PictureKey = { key: string };

/** The last picture of a camera. */
export type Snapshot = { mediaType: string; bytes: Uint8Array; at: number | null };

/** The content of the bridge's file of devices. */
export type DevicesDump = {
  version: 1;
  /** Keys and agent ids, by the identifiers of their devices. */
  ids: { key: string; id: string; identities: string[] }[];
  states: SavedState[];
  /** By a device's key: since when it is known, and when it was heard last (epoch ms). */
  seen: Record<string, { first: number; last: number | null }>;
  /** Devices that a person has removed, by their keys, with the hash of what their sources said of them. */
  forgotten: Record<string, string>;
};

/** The last message of a topic that brings values; `at` is null where its age is unknown. */
export type SavedState = { topic: string; payload: string; at: number | null };

export const SAVED_STATE_MAX_CHARS = 16 * 1_024;

/** Characters of a device's line. */
export const LINE_MAX = 90;
/** After so long without a message a device is a ghost. */
export const GHOST_AFTER_MS = 7 * 24 * 3_600_000;
