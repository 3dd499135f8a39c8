/** The status file of a running service, in its RUNTIME_DIRECTORY. `edgecall agent status` and `edgecall bridge status` read it. */
import { ConditionList } from "@edgecall/core/protocol/conditions.ts";
import { z } from "@edgecall/core/protocol/parse.ts";

export const STATUS_FILE = "status.json";
/** The file has this many of the newest warnings and errors of the log. */
export const ERRORS_KEPT = 10;

const LoggedError = z.object({ ts: z.string(), event: z.string(), error: z.string() });

const COMMON = {
  version: z.string(),
  pid: z.int(),
  /** ISO 8601, as all times here. */
  started_at: z.string(),
  online: z.boolean(),
  /** The time of the last change of `online`. */
  since: z.string(),
  /** The newest is the last. */
  last_errors: z.array(LoggedError),
};

/** The fields of both services. */
export const ServiceStatus = z.object(COMMON);
export type ServiceStatus = z.infer<typeof ServiceStatus>;

export const AgentStatus = z.object({
  agent_id: z.string(),
  ...COMMON,
  broker: z.string(),
  /** The last known version of its gateway, and why the two do not fit; absent: not known since the start. */
  gateway: z.optional(z.object({ version: z.string(), problem: z.optional(z.string()) })),
  model: z.nullable(z.string()),
  /** What is wrong with the device, as its agent sees it. Older agents do not say. */
  conditions: ConditionList,
  tools: z.array(z.string()),
  /** Tools that this device cannot offer, each with what is missing. */
  unavailable: z.array(z.object({ name: z.string(), why: z.string() })),
});
export type AgentStatus = z.infer<typeof AgentStatus>;

/** A gateway is online while it answers. `bots`: those whose messages it fetches. */
export const GatewayStatus = z.object({
  ...COMMON,
  url: z.string(),
  network_url: z.optional(z.string()),
  bots: z.array(z.object({ home: z.string(), connection: z.string(), problem: z.optional(z.string()) })),
});
export type GatewayStatus = z.infer<typeof GatewayStatus>;

/** `problem`: why the link is not up, for a person. */
const Link = z.object({ url: z.string(), up: z.boolean(), problem: z.optional(z.string()) });

/** A bridge is online when the gateway's link is up, and one of the others. Each of these is absent where the settings name none. */
export const BridgeStatus = z.object({
  bridge_id: z.string(),
  ...COMMON,
  gateway: Link,
  broker: z.optional(Link),
  home_assistant: z.optional(Link),
  /** What is wrong, as the bridge sees it. Older bridges do not say. */
  conditions: ConditionList,
});
export type BridgeStatus = z.infer<typeof BridgeStatus>;
