/** What stands in the rows of a turn that needs no model (unaided.ts): the plan of its calls, and a feature's note. */

import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import type { PlannedNote, PlannedReply } from "../api/plan.ts";
import type { StoredEntry } from "./store/rows.ts";

export type StoredPlan = Pick<PlannedReply, "steps" | "asks"> & { note: PlannedNote };

/** @returns undefined: the entry is a model's, or no reply */
export function planOf(entry: StoredEntry | undefined): StoredPlan | undefined {
  if (entry?.role !== "assistant" || entry.replay?.from !== WITHOUT_MODEL) return undefined;
  // SAFETY: rows of this name are written by unaided.ts alone.
  const { steps, asks, note } = (entry.replay.message ?? {}) as Partial<StoredPlan>;
  return { steps: steps ?? [], note: note ?? {}, ...(asks !== undefined && { asks }) };
}

/** Why a person is asked about all changes of a reply. @returns undefined: no reason was planned */
export function askedOf(entry: StoredEntry | undefined): string | undefined {
  return planOf(entry)?.asks;
}

/** What a feature noted with the last answer of a turn that needed no model. */
export function noteOf(entries: readonly StoredEntry[]): PlannedNote | undefined {
  return entries.map(planOf).findLast((plan) => plan !== undefined)?.note;
}
