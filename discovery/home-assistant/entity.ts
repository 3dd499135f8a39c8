/** An entity of Home Assistant: its slots read one state with its attributes. */
import type { Entity, SlotValue } from "../model/entity/entity.ts";
import type { Abilities } from "./abilities.ts";
import type { Entry } from "./registry.ts";
import type { EntityState } from "./state.ts";

export type Slot = {
  name: string;
  /** @returns undefined: the state says nothing about it */
  read: (state: EntityState) => SlotValue | undefined;
};

export type HomeAssistantEntity = Omit<Entity, "slots"> & {
  slots: Slot[];
  entry: Entry;
  /** Entity ids of a group's members. */
  members: string[];
  /** The attributes that say what it can do: with others it is another entity. */
  abilities: Abilities;
};
