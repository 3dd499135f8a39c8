/** Keys of agents and bridge. */

/** `none`: there is no key on record. */
export type Standing = "signed" | "revoked" | "none";

export type NewKey = {
  agent: string;
  publicKey: string;
  /** What people call the device. */
  name: string;
  /** Mosquitto's hash of the agent's password at the home's broker. */
  login?: string | undefined;
  /** The bridge's alone: where devices reach the broker whose files it keeps. */
  broker?: string | undefined;
};

/** How a key comes to be on record: a pairing was allowed to, or the key before it said so, or there was none. */
export type KeyGrant = { by: "pairing" } | { by: "signature"; signature: string } | { by: "nothing" };

export type KeyProblem = "not_a_key" | "has_a_key" | "wrong_signature";

export type AgentKeyView = {
  agent: string;
  public_key: string;
  name: string;
  enrolled_at: number;
  revoked_at: number | null;
};

export type Enrolled = { ok: true; gatewayPublicKey: string } | { ok: false; problem: KeyProblem };

/** Of an agent: its hash is with the bridge, or will be when it comes; null: the bridge keeps no broker's files. */
export type BrokerLoginState = "sent" | "waiting" | null;

export type HomeKeys = {
  /** The gateway's public key: what devices obey. */
  gateway: string;
  agents: AgentKeyView[];
  /** Agents that the broker shows and that have no key on record. */
  unsigned: Array<{ agent: string; served: boolean }>;
};

export type Removed = "removed" | "unknown" | "has_a_key" | "in_use";

/** The refusal of a bridge. An unknown home gets the same answer. */
export const UNSIGNED_BRIDGE =
  "the bridge's token is not signed with a key that a home of this gateway knows";
