/**
 * What the endpoints of models refuse, so that a conversation does not learn it anew: a row for an address and model. It is learned again
 * after some days, since a server at home may have been given another form meanwhile.
 */

import { withHabits } from "@edgecall/core/loop/habits.ts";
import type { ModelHabits } from "../../api/plan.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

const KEEP_MS = 7 * 86_400_000;
/** Bounds a home that tries one model after the other. */
const ROWS_MAX = 50;

class ModelHabitStore extends SqlStore {
  /** The row as it was read last, until it is written: every plan asks for it. */
  #known: { habits: ModelHabits; until: number } | undefined;

  /** @param now epoch ms */
  all(now: number): ModelHabits {
    if (!this.#known || this.#known.until <= now) this.#known = this.#read(now);
    return this.#known.habits;
  }

  #read(now: number): { habits: ModelHabits; until: number } {
    const rows = this.sql.all<{ source: string; habits: string; until: number }>`SELECT * FROM model_habit
      WHERE until > ${now} ORDER BY until DESC LIMIT ${ROWS_MAX}`;
    return {
      habits: Object.fromEntries(rows.map(({ source, habits }) => [source, JSON.parse(habits) as string[]])),
      until: Math.min(Number.POSITIVE_INFINITY, ...rows.map(({ until }) => until)),
    };
  }

  /** @param source address and model (core/loop/replay.ts) */
  learned(
    source: string,
    { habits, dropped }: { habits: readonly string[]; dropped: readonly string[] },
    now: number,
  ): void {
    const all = withHabits(this.all(now)[source] ?? [], habits, dropped);
    this.#known = undefined;
    this.sql.exec("DELETE FROM model_habit WHERE until <= ?", now);
    this.sql.insert("OR REPLACE INTO model_habit", {
      source,
      habits: JSON.stringify(all),
      until: now + KEEP_MS,
    });
  }
}

export const modelHabitsOf = slot(({ ctx }) => new ModelHabitStore(ctx.storage));
