/** Methods of a home about relay. */

import type { Usage } from "@edgecall/core/loop/history.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { Admission } from "./contract.ts";

export interface RelayApi {
  /** True if the agent's present key signed this token. */
  isToken(token: RelayToken): Promise<boolean>;
  /** A device asks for the gateway's model. @param reserve tokens that the call may take */
  admit(token: RelayToken, reserve: number): Promise<Admission>;
  /** Counts what an admitted call took. @param usage absent: the endpoint reported none, and the reservation stays */
  count(agent: string, reserved: number, model: string, usage: Usage | undefined): Promise<void>;
}

/** This home, as to relay. */
export const relayAt = (env: Env, home: string): RelayApi => topicAt(env, home, "relay");
