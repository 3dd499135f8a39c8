/** What the parts of a Home share: made once by its constructor. */

import type { Env } from "../env.ts";
import type { AgentKeys } from "./agent-keys.ts";
import type { Agents } from "./agents.ts";
import type { Audit } from "./audit.ts";
import type { BackupList } from "./backup-list.ts";
import type { BridgeSocket } from "./bridge-socket.ts";
import type { GatewayKey } from "./gateway-key.ts";
import type { Ledger } from "./ledger.ts";
import type { Questions } from "./questions.ts";
import type { Tallies } from "./tallies.ts";

export type HomeContext = {
  ctx: DurableObjectState;
  env: Env;
  bridge: BridgeSocket;
  agents: Agents;
  keys: AgentKeys;
  gatewayKey: GatewayKey;
  ledger: Ledger;
  audit: Audit;
  questions: Questions;
  tallies: Tallies;
  toBackUp: BackupList;
};
