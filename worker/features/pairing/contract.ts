import { AgentId } from "../../kernel/api/agent-ids.ts";
/** Requests and answers of pairing a new device. */

import { BrokerLogin } from "@edgecall/core/broker/login.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import type { BrokerLoginState, KeyProblem } from "../../kernel/api/keys.ts";
import { BROKER_URL } from "../../kernel/settings/broker-url.ts";

const BrokerUrl = z
  .string()
  .check(z.maxLength(300), z.regex(BROKER_URL, "expected mqtt://host:port or mqtts://host:port"));

/** The broker for the device, as an administrator entered it when making the code. */
export const BrokerForDevice = z.strictObject({
  url: BrokerUrl,
  username: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
  password: z.optional(z.string().check(z.minLength(1), z.maxLength(500))),
});

export type BrokerForDevice = z.infer<typeof BrokerForDevice>;

/** The end of a code, after its home. */
export const CODE_END = /^[A-HJ-NP-Z2-9]{12}$/;

export type NewCode = {
  /**
   * Only for this agent, whose key it may replace; absent: any that has none. `@bridge`: any that has none, which becomes
   * the home's bridge as well, in place of one that is there.
   */
  agent?: string | undefined;
  broker?: BrokerForDevice | undefined;
  by: string;
};

/** For whoever made it. */
export type CodeState = { state: "open" | "expired" } | { state: "used"; agent: string };

/** The request of a device with its code. */
export const PairBody = z.strictObject({
  code: z.string().check(z.maxLength(100)),
  agent_id: AgentId,
  public_key: PublicKey,
  name: z.optional(z.string().check(z.trim(), z.maxLength(64))),
  broker_login: z.optional(BrokerLogin),
  /** The device is also the home's bridge. `broker`: the broker whose files it writes, as devices reach it. */
  bridge: z.optional(z.strictObject({ public_key: PublicKey, broker: z.optional(BrokerUrl) })),
});

export type PairBody = z.infer<typeof PairBody>;

/** The answer to a device that joined. */
type Welcome = {
  gateway_key: string;
  broker: BrokerForDevice | null;
  broker_login: BrokerLoginState;
  online: boolean;
};

export type PairResult =
  | { ok: true; welcome: Welcome }
  | { ok: false; problem: "wrong_code" | "not_for_bridge" | Exclude<KeyProblem, "wrong_signature"> }
  | { ok: false; problem: "other_agent"; agent: string };
