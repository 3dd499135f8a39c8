/** What the parts of a Home share. Parts are functions over it. */
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import type { PeerNews } from "../../features/lending/contract.ts";
import type { Env } from "../env.ts";
import type { RetrySchedule } from "../retry-schedule.ts";
import type { AgentKeys } from "./agents/agent-keys.ts";
import type { Agents } from "./agents/agents.ts";
import type { GatewayKey } from "./agents/gateway-key.ts";
import type { HomeRoster } from "./agents/home-roster.ts";
import type { Audit } from "./record/audit.ts";
import type { BridgeSocket } from "./bridge/bridge-socket.ts";
import type { AgentLoad } from "./calls/agent-load.ts";
import type { Ledger } from "./calls/ledger.ts";
import type { LifeSigns } from "./calls/life-signs.ts";
import type { PendingAcks } from "./calls/pending-acks.ts";
import type { ChannelConnections } from "../../features/chat/home/channel-connections.ts";
import type { ChannelSenders } from "../../features/chat/home/senders.ts";
import type { HomeClock } from "../../features/rules/home/clock.ts";
import type { DeviceStates } from "./devices/device-states.ts";
import type { FileList } from "./files/file-list.ts";
import type { OauthClients } from "../../features/oauth/home/clients.ts";
import type { Grants } from "../../features/oauth/home/grants.ts";
import type { DeviceCodes } from "../../features/pairing/home/device-codes.ts";
import type { Borrowed } from "../../features/lending/home/borrowed.ts";
import type { Lent } from "../../features/lending/home/lent.ts";
import type { PeerRates } from "../../features/lending/home/peer-rates.ts";
import type { OutletStore } from "../../features/push/home/outlet-store.ts";
import type { Questions } from "./questions/questions.ts";
import type { Replies } from "./questions/replies.ts";
import type { AgentAnswers } from "../../features/rules/home/agent-answers.ts";
import type { RuleStore } from "../../features/rules/home/rule-store.ts";
import type { HomeTokens } from "./people/tokens.ts";
import type { ConversationList } from "./people/conversation-list.ts";
import type { ModelHabitStore } from "../../features/usage/home/model-habits.ts";
import type { Spending } from "../../features/usage/home/spending.ts";
import type { UsageCounters } from "../../features/usage/home/usage-counters.ts";

/** The object's state. In memory alone are the socket, the acks, the waits, the schedules, questions to the bridge, load and life signs of agents, and the counts of other homes' requests. */
export type HomeStores = {
  ctx: DurableObjectState;
  env: Env;
  /** The home's id. */
  name: string;
  bridge: BridgeSocket;
  agents: Agents;
  roster: HomeRoster;
  /** Reports of hosted devices; the bridge alone has them. */
  states: DeviceStates;
  keys: AgentKeys;
  gatewayKey: GatewayKey;
  ledger: Ledger;
  acks: PendingAcks;
  load: AgentLoad;
  life: LifeSigns;
  /** Outcomes that a conversation did not take. */
  deliveryRetries: RetrySchedule;
  questions: Questions;
  /** Calls of Home's own tools that an agent waits for: the call in which it does, and the session. Memory: the agent asks again. */
  agentWaits: Map<string, { parent: string; session: string }>;
  /** Calls that were asked for together, for questions that list several. */
  replies: Replies;
  /** Questions that a conversation did not take. */
  questionRetries: RetrySchedule;
  clock: HomeClock;
  rules: RuleStore;
  /** Answers of agents about rules, for which only this object waits. */
  ruleAnswers: AgentAnswers;
  outlets: OutletStore;
  /** What rules say, and a conversation did not take. */
  noticeRetries: RetrySchedule;
  audit: Audit;
  counters: UsageCounters;
  spending: Spending;
  modelHabits: ModelHabitStore;
  conversations: ConversationList;
  files: FileList;
  deviceCodes: DeviceCodes;
  tokens: HomeTokens;
  grants: Grants;
  oauthClients: OauthClients;
  senders: ChannelSenders;
  connections: ChannelConnections;
  lent: Lent;
  borrowed: Borrowed;
  /** Calls that wait for their lender's answer. */
  peerRetries: RetrySchedule;
  peerRates: PeerRates;
  /** The next news of a call of another home, by its id there. One request at a time tells it. */
  peerNews: Map<string, PeerNews>;
  /** Undefined: nothing is traced. */
  tracer: Tracer | undefined;
  /** The time when each lender was asked for its agents, epoch ms. */
  lendersAsked: Map<string, number>;
};

export type HomeContext = HomeStores & { alarm: Alarm };

/** alarm.ts implements it. */
export interface Alarm {
  /** Sets the alarm to the time at which the first part is due. */
  arm(): Promise<void>;
  /** Sets the alarm no later than `time` (epoch ms), without asking the parts. */
  wakeBy(time: number): Promise<void>;
  /** Does what is due, and sets the alarm anew. */
  onAlarm(home: HomeContext): Promise<void>;
}
