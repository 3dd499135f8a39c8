/** The record of calls. The device makes a line for each call and keeps it for a week; Home keeps it longer. */
import { CallId } from "./names.ts";
import { z } from "./parse.ts";

const text = (max: number) => z.string().check(z.maxLength(max));

/** Largest line, in characters of JSON. The device cuts parameters and error to fit. */
export const AUDIT_LINE_MAX = 4_096;
/** Most lines in a batch, which Home stores as one row. */
export const AUDIT_BATCH_LINES = 100;

export const AuditLine = z.looseObject({
  /** ISO 8601, by the device's clock. */
  timestamp: text(40),
  agent_id: text(64),
  tool: text(128),
  /** Without secrets; cut when they are long. */
  parameters: z.unknown(),
  result: z.enum(["success", "error"]),
  error_type: z.optional(text(64)),
  /** Why the call failed or was refused. */
  error: z.optional(text(500)),
  exit_code: z.nullable(z.int()),
  /** false: of a `prompt` for which the device's model called no tool. */
  asked: z.optional(z.boolean()),
  elapsed_ms: z.number(),
  /** The ids of the call, and of the command that it belongs to (its own, or the prompt's). */
  call_id: text(128),
  request_id: text(128),
  caller: z.looseObject({ principal: text(200), role: text(64), channel: text(64) }),
  /**
   * The person's answer when the call needed an approval; `by` is missing when nobody answered. `how`: `passkey`, `press`. `permission`:
   * the id of the standing permission under which nobody was asked.
   */
  approval: z.optional(
    z.looseObject({
      approved: z.boolean(),
      by: z.optional(text(200)),
      how: z.optional(text(40)),
      at: text(40),
      permission: z.optional(text(200)),
    }),
  ),
});
export type AuditLine = z.infer<typeof AuditLine>;

/** Sent on `events`: lines that the gateway has not acknowledged. `request_id` names the batch; the answer is `ack`. */
export const AuditBatch = z.looseObject({
  type: z.literal("audit"),
  request_id: CallId,
  lines: z.array(AuditLine).check(z.maxLength(AUDIT_BATCH_LINES)),
});
export type AuditBatch = z.infer<typeof AuditBatch>;
