/** The record of calls: a line for each, made on the device, kept there for a week and by Home for longer. */
import { CallId } from "./names.ts";
import { z } from "./parse.ts";

const text = (max: number) => z.string().check(z.maxLength(max));

/** Of one line, in characters of JSON: parameters and error are cut to it by the device. */
export const AUDIT_LINE_MAX = 4_096;
/** Of one batch: it is one row of Home's. */
export const AUDIT_BATCH_LINES = 100;

export const AuditLine = z.looseObject({
  /** ISO 8601, of the device's clock. */
  timestamp: text(40),
  agent_id: text(64),
  tool: text(128),
  /** Without secrets; cut when it is long. */
  parameters: z.unknown(),
  result: z.enum(["success", "error"]),
  error_type: z.optional(text(64)),
  /** Why it failed, or was refused. */
  error: z.optional(text(500)),
  exit_code: z.nullable(z.int()),
  elapsed_ms: z.number(),
  /** Names the call, and the command that it belongs to (its own, or the prompt's). */
  call_id: text(128),
  request_id: text(128),
  caller: z.looseObject({ principal: text(200), role: text(64), channel: text(64) }),
  /** What a person said when the call had to be approved; `by` is missing when nobody answered. */
  approval: z.optional(z.looseObject({ approved: z.boolean(), by: z.optional(text(200)), at: text(40) })),
});
export type AuditLine = z.infer<typeof AuditLine>;

/** `events`: lines that the gateway has not acknowledged yet. `request_id` names the batch; the answer is `ack`. */
export const AuditBatch = z.looseObject({
  type: z.literal("audit"),
  request_id: CallId,
  lines: z.array(AuditLine).check(z.maxLength(AUDIT_BATCH_LINES)),
});
export type AuditBatch = z.infer<typeof AuditBatch>;
