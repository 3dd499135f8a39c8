/**
 * An entity of the broker: its slots read messages of topics, and topics say whether it is there. The files in ../kinds/ make an
 * entity of each kind of config.
 */
import type { Entity, SlotValue } from "../../model/entity/entity.ts";
import type { Config } from "../config/fields.ts";
import type { Message } from "../states/message.ts";
import type { Unreadable } from "../states/templates.ts";

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

/** Topics that say whether the entity is there. */
export type Availability = {
  mode: "latest" | "all" | "any";
  entries: { topic: string; read: (message: Message) => boolean | undefined }[];
};

export type MqttEntity = Omit<Entity, "slots"> & {
  config: Config;
  qos: 0 | 1 | 2;
  slots: Slot[];
  availability: Availability;
};
