/** The home's clock: as the settings say, or as an owner decided. All of Home that needs the time of day asks here. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { ClockBody, ClockView } from "../api/clock.ts";
import type { Env } from "../env.ts";
import { type ClockSettings, hoursOf, readClockSettings } from "../settings/clock.ts";
import { readSettings } from "../settings/settings.ts";
import { SqlStore } from "../sql-store.ts";
import { slot } from "./slot.ts";

/** @property zone null: the setting counts, as with the next @property quiet_hours as in the setting */
type ClockRow = { zone: string | null; quiet_hours: string | null; changed_by: string };

const UNDECIDED: Pick<ClockRow, "zone" | "quiet_hours"> = { zone: null, quiet_hours: null };

class HomeClock extends SqlStore {
  readonly #env: Env;
  /** Null: there is none. Undefined: it was not read yet. */
  #row: ClockRow | null | undefined;
  /** The same object until something changes, since windows remember where they are. */
  #last: { settings: ClockSettings; clock: ClockSettings } | undefined;

  constructor(storage: DurableObjectStorage, env: Env) {
    super(storage);
    this.#env = env;
  }

  /** @throws SettingsError */
  read(): ClockSettings {
    const settings = readSettings(this.#env).clock;
    if (this.#last?.settings === settings) return this.#last.clock;
    const { zone, quiet_hours } = this.#stored() ?? UNDECIDED;
    const merged = zone === null && quiet_hours === null ? undefined : over(settings, { zone, quiet_hours });
    const clock = merged?.ok ? merged.value : settings;
    this.#last = { settings, clock };
    return clock;
  }

  view(): ClockView {
    return { ...viewOf(this.read()), changed_by: this.#stored()?.changed_by ?? null };
  }

  /** @param by the person @returns the error names the field */
  change(change: ClockBody, by: string, now: number): Parsed<ClockSettings> {
    const settings = readSettings(this.#env).clock;
    const before = this.#stored() ?? UNDECIDED;
    const { zone = before.zone, quiet_hours = before.quiet_hours } = change;
    const merged = over(settings, { zone, quiet_hours });
    if (!merged.ok) return merged;
    this.sql.exec(
      "INSERT OR REPLACE INTO clock (one, zone, quiet_hours, changed_by, changed_at) VALUES (1, ?, ?, ?, ?)",
      ...[zone, quiet_hours, by, now],
    );
    this.#row = undefined;
    this.#last = { settings, clock: merged.value };
    return merged;
  }

  #stored(): ClockRow | null {
    if (this.#row === undefined)
      this.#row = this.sql.first<ClockRow>("SELECT zone, quiet_hours, changed_by FROM clock") ?? null;
    return this.#row;
  }
}

/** `22:00-07:00`; null: there are none. */
export function viewOf(clock: ClockSettings): Omit<ClockView, "changed_by"> {
  return { zone: clock.zone, quiet_hours: clock.quiet ? hoursOf(clock) : null };
}

function over(settings: ClockSettings, { zone, quiet_hours }: typeof UNDECIDED): Parsed<ClockSettings> {
  return readClockSettings(
    { zone: zone ?? settings.zone, hours: quiet_hours ?? hoursOf(settings) },
    { zone: "zone", hours: "quiet_hours" },
  );
}

export const clockOf = slot(({ ctx, env }) => new HomeClock(ctx.storage, env));
