/** Arguments of the tools; edge-call.ts has those of edge_call. */
import { z } from "@edgecall/core/protocol/parse.ts";

/** The wire's limit for a request's id. */
const CALL_ID_MAX = 128;

export const EdgeListInput = z.strictObject({ agent_id: z.optional(z.string()) });
export const EdgeResultInput = z.strictObject({
  agent_id: z.string(),
  call_id: z.string().check(z.regex(new RegExp(`^[A-Za-z0-9_-]{1,${CALL_ID_MAX}}$`))),
});
