/** What the parts of a Home share: made once by its constructor. */

import type { Env } from "../env.ts";
import type { AgentKeys } from "./agents/agent-keys.ts";
import type { Agents } from "./agents/agents.ts";
import type { GatewayKey } from "./agents/gateway-key.ts";
import type { Audit } from "./audit/audit.ts";
import type { BridgeSocket } from "./bridge/bridge-socket.ts";
import type { Ledger } from "./calls/ledger.ts";
import type { Questions } from "./questions/questions.ts";
import type { BackupList } from "./usage/backup-list.ts";
import type { Tallies } from "./usage/tallies.ts";

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
