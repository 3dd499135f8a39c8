/** What a running service says of itself to `edgecall agent status` and the like, in a file in its RUNTIME_DIRECTORY. */
import { z } from "@edgecall/core/protocol/parse.ts";

export const STATUS_FILE = "status.json";
/** Of the newest warnings and errors of its log. */
export const ERRORS_KEPT = 10;

const LoggedError = z.object({ ts: z.string(), event: z.string(), error: z.string() });

const COMMON = {
  version: z.string(),
  pid: z.int(),
  /** ISO 8601, as are the others. */
  started_at: z.string(),
  online: z.boolean(),
  /** Since when it is online, or is not. */
  since: z.string(),
  /** The newest last. */
  last_errors: z.array(LoggedError),
};

/** What both say. */
export const ServiceStatus = z.object(COMMON);
export type ServiceStatus = z.infer<typeof ServiceStatus>;

export const AgentStatus = z.object({
  agent_id: z.string(),
  ...COMMON,
  broker: z.string(),
  /** What it was last told of its gateway, and why the two do not fit; absent: nothing since it was started. */
  gateway: z.optional(z.object({ version: z.string(), problem: z.optional(z.string()) })),
  model: z.nullable(z.string()),
  tools: z.array(z.string()),
  /** Tools that this device cannot offer, and what is missing. */
  unavailable: z.array(z.object({ name: z.string(), why: z.string() })),
});
export type AgentStatus = z.infer<typeof AgentStatus>;

/** `problem`: why it is not up, for a person. */
const Link = z.object({ url: z.string(), up: z.boolean(), problem: z.optional(z.string()) });

/** Online: both links are up. */
export const BridgeStatus = z.object({
  bridge_id: z.string(),
  ...COMMON,
  gateway: Link,
  broker: Link,
});
export type BridgeStatus = z.infer<typeof BridgeStatus>;
