/** Standing permissions, as the API shows them and as a card offers them. */
import { ActionBounds, Hours, type StandingPermission, Who } from "@edgecall/core/permissions/permission.ts";
import { Instant } from "@edgecall/core/protocol/instant.ts";
import { z } from "@edgecall/core/protocol/parse.ts";

/**
 * Why a permission ended. `date`, `unused`, `silent`: its time was over. `ended`: a person ended it. `changed`: the device does something
 * else now. `paired_again`: the device has another key. `mode`: the device is off or may only be read. `giver`: the person who allowed
 * it may not any more. `left`: its person is gone. `disconnected`: its program is. `returned`: the lending ended. `rule`: the rule changed or
 * is gone. `device_gone`: the device was removed. `not_me`: the yes was somebody else's.
 */
export type EndReason =
  | "date"
  | "unused"
  | "silent"
  | "ended"
  | "changed"
  | "paired_again"
  | "mode"
  | "giver"
  | "left"
  | "disconnected"
  | "returned"
  | "rule"
  | "device_gone"
  | "not_me";

/** @property at epoch ms @property by the person; null: the gateway */
export type Ended = { at: number; why: EndReason; by: string | null };

/** Times are epoch ms. `since`: of the allowance of an earlier version that it was written out for. */
export type PermissionView = Omit<StandingPermission, "key" | "version"> & {
  /** The device's name now; its id at the time where it is gone. */
  name: string;
  since: number | null;
  uses: number;
  used_at: number | null;
  ended: Ended | null;
};

/**
 * What a card may offer to keep with a yes. The kernel computes it from the call, and nothing wider is taken.
 * @property id `conversation`: in this conversation, until it is silent for a day. `always`: for this action on this device
 * @property who whose calls; the first one is proposed @property until its latest end, epoch ms
 * @property level the proof that a person was there which it takes
 * @property tainted a stranger's text may have led to the call: kept only where the person says so on the card
 * @property chain another agent asked for the call: kept in the same way
 * @property question of a question that lists several: the one whose call it is
 */
export type PermissionOffer = {
  id: "conversation" | "always";
  device: string;
  action: string;
  bounds: ActionBounds;
  who: Who[];
  until: number;
  level: StandingPermission["how"];
  tainted?: true;
  chain?: true;
  question?: string;
};

/** Calls of one question. */
const KEPT_MAX = 200;

/** What a person keeps of an offer: the same, or less. */
export const Keep = z.strictObject({
  offer: z.enum(["conversation", "always"]),
  /** Of a question that lists several: those of them, by their ids, for whose calls it is kept. Absent: all. */
  questions: z.optional(
    z.array(z.string().check(z.maxLength(100))).check(z.minLength(1), z.maxLength(KEPT_MAX)),
  ),
  /** One of those that are offered. Absent: the first one. */
  who: z.optional(Who),
  /** Absent: as offered. */
  bounds: z.optional(ActionBounds),
  /** Minutes of the home's day. Absent: all day. */
  hours: z.optional(Hours),
  /** Epoch ms. Absent: the latest end. */
  until: z.optional(Instant),
  /** Also where a stranger's text may have led to a call. */
  tainted: z.optional(z.literal(true)),
  /** Also where another agent asks for a call. */
  chain: z.optional(z.literal(true)),
});
export type Keep = z.infer<typeof Keep>;
