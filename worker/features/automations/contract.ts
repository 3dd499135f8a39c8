/** What the API takes and says of rules that act. */

import type { AutomationStatus, HomePresence } from "@edgecall/core/protocol/automation.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { RULE_NAME_MAX, SAY_MAX } from "@edgecall/core/rules/watch-rule.ts";

/** `PATCH /v1/automations/{automation}`. */
export const AutomationBody = z.strictObject({
  /** `active` needs `allow`: it allows the rule anew. */
  status: z.optional(z.enum(["active", "paused"])),
  /** Of `active`: the card's own `allow`, as the owner read it. */
  allow: z.optional(z.string().check(z.maxLength(64))),
  /** Of `active`: true once the owner said yes again to what the card's `second_tap` names. */
  second_tap: z.optional(z.boolean()),
  name: z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(RULE_NAME_MAX))),
  /** Words that it tells when it has run; null: it speaks only when something was not confirmed. */
  say: z.optional(z.nullable(z.string().check(z.trim(), z.minLength(1), z.maxLength(SAY_MAX)))),
});
export type AutomationBody = z.infer<typeof AutomationBody>;

/** `POST /v1/automations/{automation}/undo`. */
export const UndoBody = z.strictObject({
  /** The run, as `now.runs` names it. */
  firing: z.int().check(z.minimum(1)),
});

/** `PUT /v1/presence`. */
export const PresenceBody = z.strictObject({ away: z.boolean() });

/** A rule that acts. Times: epoch ms. */
export type AutomationView = {
  id: string;
  name: string;
  version: number;
  /** `paused`: it is not at the bridge. */
  status: "active" | "paused";
  /** In words: why it was paused. */
  why: string | null;
  say: string | null;
  /** The card's lines, as an owner allowed it: when it runs, what it does. */
  card: string[];
  /** Ids of the devices that it looks at and that it changes; those that are gone are left out. */
  reads: string[];
  changes: string[];
  /** The person who asked for it. */
  by: string;
  /** Where that was; "": a client without one, or a place that the caller may not see. */
  channel: string;
  conversation: string;
  made_at: number;
  /** The owner who allowed this version. */
  allowed_by: string;
  allowed_at: number;
  /** The allowance ends then. */
  until: number;
  /** Ids of its standing permissions that hold. */
  permissions: string[];
  /** What the bridge says of it; null: the bridge did not answer, or does not have it. */
  now: AutomationStatus | null;
};

/** A person's word that they are away. */
type AwayView = { person: string; name: string; at: number };

/** `GET /v1/automations`. */
export type AutomationList = {
  automations: AutomationView[];
  /** `older`: the bridge knows no rules that act. */
  bridge: "online" | "offline" | "older";
  /** The home's time zone. */
  zone: string;
  /** Who said that they are away. */
  away: AwayView[];
  /** What the sources at home say; null: none is named, or the bridge did not answer. */
  presence: HomePresence | null;
  /** True if the caller may allow, resume and undo. */
  allows: boolean;
};

/** `POST /v1/automations/{automation}/card`: how it would be allowed now. */
export type AutomationCard = {
  /** For `PATCH` with `status: "active"`. It holds for exactly what the card says. */
  allow: string;
  card: string[];
  /** What does harm, named for a second tap; none: one is enough. */
  second_tap: string[];
};

/** What was done, in words. `confirmed`: the devices reported all of it. */
export type AutomationUndone = { text: string; confirmed: boolean };

export type AutomationRefused = { ok: false; status: 403 | 404 | 409 | 422; code: string; message: string };

export type AutomationChanged = { ok: true; automation: AutomationView } | AutomationRefused;
