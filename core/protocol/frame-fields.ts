/** Fields that frames of the bridge and of Home have. */
import { AGENT_ID } from "./names.ts";
import { z } from "./parse.ts";

export const agentId = z.string().check(z.regex(AGENT_ID));
export const hash = z.string().check(z.maxLength(64));
/** What an agent published, or will be published to it, verbatim. */
export const raw = z.string().check(z.maxLength(512 * 1024));
