/** The home's clock, by which rules speak: its time zone and its quiet hours. */
import { z } from "@edgecall/core/protocol/parse.ts";

export const ClockBody = z.strictObject({
  /** An IANA name, as `Europe/Berlin`; null: as the setting TIMEZONE says. */
  zone: z.optional(z.nullable(z.string().check(z.trim(), z.minLength(1), z.maxLength(64)))),
  /** `22:00-07:00`, or `off`; null: as the setting QUIET_HOURS says. */
  quiet_hours: z.optional(z.nullable(z.string().check(z.trim(), z.minLength(1), z.maxLength(11)))),
});
export type ClockBody = z.infer<typeof ClockBody>;

export type ClockView = {
  zone: string;
  /** `22:00-07:00`; null: there are none. */
  quiet_hours: string | null;
  /** The person who decided it; null: the gateway's settings say it. */
  changed_by: string | null;
};
