/** The answers of the gateway's routes, as far as this command reads them (docs/reference/protocol.md). */
import { z } from "@edgecall/core/protocol/parse.ts";

const count = z.number();
const instant = z.nullable(z.number());

/** Absent from an older gateway. */
const conditions = z.optional(
  z.array(
    z.looseObject({
      code: z.string(),
      severity: z.enum(["wrong", "notice"]),
      text: z.string(),
      cure: z.string(),
    }),
  ),
);

export const Status = z.looseObject({
  home: z.string(),
  version: z.string(),
  bridge: z.looseObject({
    online: z.boolean(),
    id: z.nullable(z.string()),
    version: z.nullable(z.string()),
    connected_at: instant,
    last_seen: instant,
    /** Absent from an older gateway. True if the bridge can update itself; null while it is away. */
    updates: z.optional(z.nullable(z.boolean())),
    /** Absent from an older gateway. The bridge's last update; `ok` is null while it is under way. */
    update: z.optional(
      z.nullable(z.looseObject({ id: z.string(), ok: z.nullable(z.boolean()), text: z.string() })),
    ),
    problem: z.optional(z.string()),
    conditions,
  }),
  conditions,
  agents: z.looseObject({ known: count, online: count }),
  /** The copy of the record to a database: bytes that wait, since when, the last problem, lines that are lost. */
  audit: z.optional(
    z.looseObject({ waiting: count, since: instant, problem: z.nullable(z.string()), lost: count }),
  ),
  calls: z.array(
    z.looseObject({
      id: z.string(),
      agent: z.string(),
      command: z.string(),
      state: z.string(),
      since: count,
      deadline: count,
    }),
  ),
});
export type Status = z.infer<typeof Status>;

export const Agent = z.looseObject({
  id: z.string(),
  online: z.boolean(),
  status: z.optional(z.string()),
  group: z.optional(z.string()),
  reason: z.optional(z.string()),
  last_seen: instant,
  last_active: instant,
  type: z.nullable(z.string()),
  version: z.nullable(z.string()),
  capabilities: z.string(),
  foreign: z.boolean(),
  /** A device of the broker, which the bridge plays: it has no program of ours. */
  hosted: z.optional(z.boolean()),
  features: z.array(z.string()),
  actions: z.array(z.string()),
  problem: z.optional(z.string()),
  conditions,
  counts: z.looseObject({ calls: count, success: count, error: count, open: count }),
});
export type Agent = z.infer<typeof Agent>;

/** @returns "running", "idle" or "offline"; an older gateway knows no more than "online" */
export function statusOf({ online, status }: Pick<Agent, "online" | "status">): string {
  return online ? (status ?? "online") : "offline";
}

export const Actions = z.looseObject({
  actions: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string(),
      effect: z.optional(z.string()),
    }),
  ),
});
export type Actions = z.infer<typeof Actions>;

export const Call = z.looseObject({
  id: z.string(),
  name: z.string(),
  agent: z.optional(z.string()),
  action: z.optional(z.string()),
  query: z.optional(z.string()),
  /** An equal call of the same step, which ran for this one. */
  same_as: z.optional(z.string()),
  status: z.enum(["pending", "success", "error"]),
  error_type: z.optional(z.string()),
  error: z.optional(z.string()),
  elapsed_ms: z.optional(z.number()),
  waited_ms: z.optional(z.number()),
  for_user: z.optional(z.string()),
  asked: z.optional(z.boolean()),
  /** Those that the device made for it. */
  calls: z.optional(z.array(z.looseObject({ status: z.string(), error_type: z.optional(z.string()) }))),
});
export type Call = z.infer<typeof Call>;

export const Question = z.looseObject({
  id: z.string(),
  agent: z.string(),
  text: z.string(),
  options: z.array(z.string()),
  approval: z.optional(
    z.looseObject({
      tool: z.string(),
      parameters: z.record(z.string(), z.unknown()),
      cwd: z.optional(z.string()),
      reason: z.string(),
      /** Absent from an older gateway. */
      card: z.optional(
        z.looseObject({
          verb: z.string(),
          accept: z.optional(z.string()),
          asker: z.string(),
          own: z.optional(z.looseObject({ text: z.string() })),
          facts: z.array(z.looseObject({ label: z.string(), text: z.string() })),
          danger: z.optional(z.literal(true)),
          shows: z.optional(z.array(z.string())),
          partial: z.optional(z.literal(true)),
          marks: z.optional(z.array(z.looseObject({ line: z.number(), why: z.string() }))),
          /** Of a rule that acts: all of it in sentences, or with `danger` what of it does harm. */
          lines: z.optional(z.array(z.string())),
        }),
      ),
      unread: z.optional(
        z.array(
          z.object({
            agent: z.string(),
            line: z.optional(z.string()),
            was: z.optional(z.string()),
            actions: z.array(z.string()),
          }),
        ),
      ),
    }),
  ),
  answer: z.optional(z.string()),
  answered_by: z.optional(z.string()),
  /** People who were asked beside the person here. Empty: the person here may not approve, and nobody could be told. */
  asked: z.optional(z.array(z.looseObject({ name: z.string(), time: z.string() }))),
});
export type Question = z.infer<typeof Question>;

export const Turn = z.looseObject({
  turn: z.string(),
  status: z.enum(["running", "done", "failed", "cancelled"]),
  answer: z.nullable(z.string()),
  model: z.nullable(z.string()),
  calls: z.array(Call),
  notices: z.optional(z.array(z.string())),
  rules: z.optional(z.array(z.looseObject({ text: z.optional(z.string()) }))),
  error: z.optional(z.looseObject({ code: z.string(), message: z.string() })),
});
export type Turn = z.infer<typeof Turn>;
