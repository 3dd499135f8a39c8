/** Arguments of the tools that edge-call.ts does not have already. */
import { z } from "@edgecall/core/protocol/parse.ts";

/** The wire's bound of a request's id. */
const CALL_ID_MAX = 128;

export const EdgeListInput = z.strictObject({ agent_id: z.optional(z.string()) });
export const EdgeResultInput = z.strictObject({
  agent_id: z.string(),
  call_id: z.string().check(z.regex(new RegExp(`^[A-Za-z0-9_-]{1,${CALL_ID_MAX}}$`))),
});
