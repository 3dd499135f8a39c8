/** What two homes tell each other about agents that one lends to the other. */
import type { CalledOutcome } from "@edgecall/core/protocol/mqtt.ts";

export type PeerKind = "take" | "agents" | "call" | "cancel" | "outcome" | "waiting";

/** @property status of HTTP @property body JSON */
export type PeerReply = { status: number; body: unknown };

/** A call of a lent agent. `chain.steps`: how many agents were before it, whose names are not told. */
export type PeerCall = {
  id: string;
  agent: string;
  query?: string;
  action?: string;
  params?: Record<string, unknown>;
  chain: { steps: number };
};

export type PeerOutcome = { id: string; outcome: CalledOutcome };
