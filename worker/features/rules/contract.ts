import { z } from "@edgecall/core/protocol/parse.ts";
import { REPEATS } from "@edgecall/core/protocol/rules.ts";
import { REMINDER_TEXT_MAX } from "@edgecall/core/rules/reminder.ts";
import {
  FOR_MINUTES_MAX,
  RULE_NAME_MAX,
  SAY_MAX,
  SEVERITIES,
  THEN_MINUTES_MAX,
} from "@edgecall/core/rules/watch-rule.ts";

export const PressBody = z.strictObject({
  do: z.enum(["ack", "snooze", "stop", "undo"]),
  /** The firing that is meant. Absent: the one that goes on. */
  occurrence: z.optional(z.int().check(z.minimum(0))),
  /** Of `snooze`: 60 unless it says otherwise. */
  minutes: z.optional(z.number().check(z.minimum(1), z.maximum(10_080))),
});
export type PressBody = z.infer<typeof PressBody>;

export const RuleBody = z.strictObject({
  status: z.optional(z.enum(["active", "paused"])),
  /** Of a watch. */
  name: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(RULE_NAME_MAX))),
  /** Of a watch: the number, text or boolean that the reading is compared with. */
  value: z.optional(z.union([z.number(), z.string().check(z.maxLength(200)), z.boolean()])),
  /** Of a watch: how long it has to be so. */
  for_minutes: z.optional(z.number().check(z.minimum(0), z.maximum(FOR_MINUTES_MAX))),
  /** Of a watch. */
  repeat: z.optional(z.enum(REPEATS)),
  /** Of a watch: the hours of the home's clock in which it counts, `08:00-20:00`; null: all. */
  only_between: z.optional(z.nullable(z.string().check(z.maxLength(11)))),
  /** Of a watch. `critical` is for owners. */
  severity: z.optional(z.enum(SEVERITIES)),
  /** Of a watch: words that are added to its messages; null: none. */
  say: z.optional(z.nullable(z.string().check(z.maxLength(SAY_MAX)))),
  /** Of a watch: who is told where nobody answers within `after_minutes`, as `to` of the tool `watch`; null: nobody. */
  then_to: z.optional(
    z.nullable(
      z.strictObject({
        to: z.string().check(z.minLength(1), z.maxLength(200)),
        after_minutes: z.number().check(z.minimum(1), z.maximum(THEN_MINUTES_MAX)),
      }),
    ),
  ),
  /** Of a reminder. */
  text: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(REMINDER_TEXT_MAX))),
});
export type RuleBody = z.infer<typeof RuleBody>;

/** Of a rule's history. Times: epoch ms. */
type FiringView = {
  occurrence: number;
  at: number;
  /** Null: it goes on, or was a moment. */
  until: number | null;
  value?: number | string | boolean;
  /** `value` in words: "open", "−14 °C". */
  text?: string;
  acked_by: string | null;
};

/** A watch or a reminder. Times: epoch ms. */
export type RuleView = {
  id: string;
  kind: "watch" | "remind";
  /** The person's name for a watch; the text of a reminder. */
  name: string;
  status: "active" | "paused" | "orphaned";
  /** In words: why it stopped, or what was not delivered. */
  why: string | null;
  /** In words: when it fires. */
  condition: string;
  /** The device as people call it. Only of a watch. */
  device?: string;
  /** Its id as an agent; null: it is gone. Only of a watch. */
  agent?: string | null;
  value?: number | string | boolean;
  for_minutes?: number;
  severity?: "info" | "warning" | "critical";
  repeat?: "once" | "each_time" | "until_ack";
  /** `08:00-20:00` of the home's clock. */
  only_between?: string;
  say?: string;
  /** The second recipient, who is told where nobody answers: `owners`, or a conversation as `telegram:family:7`. */
  then_to?: { to: string; after_minutes: number };
  /** Of a watch, as far as Home knows. */
  state?: "idle" | "pending" | "firing" | "clearing" | "unknown";
  /** Of a watch that fires: since when its condition is so. */
  since?: number;
  /** In words, of a watch: why nothing is told now. */
  silent?: string;
  /** Of a watch: what is changed from here does not fire it, and it can be changed from here. In words. */
  note?: string;
  /** Of a reminder, at most three. */
  next?: number[];
  last_firing: number | null;
  /** The newest first, at most 20. */
  history: FiringView[];
  /** The person who made it. */
  by: string;
  /** The conversation where it was made; "": a client without one. */
  channel: string;
  conversation: string;
  /** In words: who is told. */
  to: string;
  made_at: number;
};

/** `GET /v1/rules`. */
export type RuleList = {
  rules: RuleView[];
  /** The home's time zone. */
  zone: string;
  /** `22:00-07:00`; null: there are none. */
  quiet_hours: string | null;
};

export type RuleChanged =
  | { ok: true; rule: RuleView }
  | { ok: false; status: 403 | 404 | 422; message: string };
