/** Keys of agents and bridge. */

/** `none`: there is no key on record. */
export type Standing = "signed" | "revoked" | "none";

export type NewKey = {
  agent: string;
  publicKey: string;
  /** The device's name for people. */
  name: string;
  /** Mosquitto's hash of the agent's password at the home's broker. */
  login?: string | undefined;
  /** The bridge's alone: where devices reach the broker whose files it keeps. */
  broker?: string | undefined;
};

/** Why a key may be stored: by a pairing, by a signature of the previous key, or because there was no key. */
export type KeyGrant = { by: "pairing" } | { by: "signature"; signature: string } | { by: "nothing" };

export type KeyProblem = "not_a_key" | "has_a_key" | "wrong_signature" | "reserved_id" | "group_name";

export type AgentKeyView = {
  agent: string;
  public_key: string;
  name: string;
  enrolled_at: number;
  revoked_at: number | null;
};

export type Enrolled = { ok: true; gatewayPublicKey: string } | { ok: false; problem: KeyProblem };

/** `sent`: the bridge has the login's hash; `waiting`: it gets the hash when it connects; null: the bridge writes no broker's files. */
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

/** `not_needed`: the bridge does not say that its numbers are old. */
export type Readmitted = "sent" | "not_needed" | "no_bridge" | "unknown";
