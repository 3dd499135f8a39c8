/** What stands in the rows of a turn that needs no model (unaided.ts): the plan of its calls, and a feature's note. */

import { WITHOUT_MODEL } from "@edgecall/core/loop/without-model.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { PlannedNote, PlannedReply } from "../api/plan.ts";
import type { StoredEntry } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";

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

/** Turns that tell the language of what comes next. */
const LANGUAGE_TURNS = 3;

/**
 * The language of the newest turns that were answered without a model.
 * @param before the number of a turn; absent: the next one @returns undefined: none of them was
 */
export function lastLanguage(transcript: Transcript, before?: number): Language | undefined {
  const next = before ?? (transcript.turns().at(-1)?.n ?? 0) + 1;
  for (let n = next - 1; n > 0 && n >= next - LANGUAGE_TURNS; n -= 1) {
    const note = noteOf(transcript.entriesOf(n));
    if (note?.language) return note.language;
  }
  return undefined;
}
