/** The JSON answers of the routes (docs/reference/protocol.md), of which `npm run api` makes the types of `client/`. */

import type { ShownCondition } from "@edgecall/core/conditions/conditions.ts";
import type { CallRecord, Cut, Usage } from "@edgecall/core/loop/history.ts";
import type { TurnMetrics } from "@edgecall/core/loop/metrics.ts";
import type { RuleButton } from "./notices.ts";
import type { PermissionOffer } from "./permissions.ts";

export type TurnStatus = "running" | "done" | "failed" | "cancelled";

/** Something that a turn waits for. `link`: where a person answers, in the console. */
export type Waiting = {
  calls: Array<Pick<CallRecord, "id" | "name" | "agent" | "action" | "query">>;
  questions: Array<
    Pick<TurnQuestion, "id" | "agent" | "text" | "expires_at"> & { approval: boolean; link: string }
  >;
};

/** An earlier turn that its client did not wait for, with the person's words in `text`. */
export type EarlierTurn = Pick<TurnResult, "turn" | "status" | "answer" | "calls"> & { text: string };

/** The body of `POST …/messages` and `GET …/turns/{turn}`. */
export type TurnResult = {
  turn: string;
  status: TurnStatus;
  /** Text for the person, whatever the turn's outcome; null while it runs. */
  answer: string | null;
  /** `edgecall`: it was answered without a model. */
  model: string | null;
  /** Calls of the caller's own tools, with which the turn ended. The caller runs them and sends their results. */
  requested?: CallRecord[];
  /** The answer is not whole, and its last line says so: the model reached MAX_TOKENS, or a filter stopped it. */
  cut?: Cut;
  /** Every call with its outcome, so that the answer's claims can be checked. */
  calls: CallRecord[];
  usage: Usage;
  /** Tokens of the sessions that its calls began, and of agents' own models by their word. They count for the budgets of turn and conversation. */
  agents_usage?: Usage;
  /** Calls, batches and time of the turn. */
  metrics: TurnMetrics;
  /** The gateway's own words about rules in this turn, whatever the model says; without a text it is the answer. The buttons are pressed by `POST /v1/rules/{rule}/press`; then `pressed` says what came of it, and they are gone. */
  rules?: Array<{ text?: string; buttons: RuleButton[]; pressed?: string }>;
  /** Budgets that are nearly used up. */
  notices?: string[];
  /** Of a turn that runs on when its client has waited long enough: what it waits for, and that in words for the person. */
  waiting?: Waiting;
  meanwhile?: string;
  /** Earlier turns that ended after their clients had gone. Each is in one later turn. */
  earlier?: EarlierTurn[];
  /** Present when the model was offered devices and asked none, so no device stands behind the answer. */
  edgecall?: { asked: false };
  /** The turn's questions to a person, with answers where given. */
  questions?: TurnQuestion[];
  error?: { code: string; message: string };
};

/** A turn of `GET /v1/conversations/{id}`. */
export type PastTurn = TurnResult & {
  text: string;
  created_at: number;
  /** The pictures that the person sent: `media:` and the id of a stored one, or an address. */
  images?: string[];
};

/** A person who was asked to decide. @property at epoch ms @property time the same on the home's clock, `14:02` */
export type AskedPerson = { name: string; at: number; time: string };

/** An approval that is listed in a question with others. It can be answered alone, by its id. */
export type QuestionMember = { id: string; call: string; agent: string; text: string };

/**
 * How an approval is shown, beside what exactly would be run. The gateway makes all of it of what is hashed, in the language of the
 * conversation. `question.text` is its sentence.
 */
export type ApprovalCard = {
  /** The words of the buttons: yes, no, and yes with its texts accepted. */
  verb: string;
  decline: string;
  accept?: string;
  /** Who asked, and by which way: "Marie asked, by Telegram". */
  asker: string;
  /** What the person with this principal reads in its place: "You asked, by Telegram". `name`: as others call them. */
  own?: { principal: string; text: string; name: string };
  /** What else is known: where it is, what it says now. */
  facts: Array<{ label: string; text: string }>;
  /** It may do harm: yes and no look alike. */
  danger?: true;
  /** Where in `parameters` the text is that the sentence calls "this". It is shown line by line. */
  shows?: string[];
  /** Lines of that text that do harm, from 0, each with the reason. */
  marks?: Array<{ line: number; why: string }>;
  /** Some values are not in the sentence. */
  partial?: true;
  /** Of a rule that acts: its card, line by line, as it would be allowed, or with `danger` what of it does harm. They say all of it. */
  lines?: string[];
};

/** A question to a person. One that lists several approvals is answered for all of them. */
export type TurnQuestion = {
  id: string;
  /** The first one's, where it lists several. */
  call: string;
  /** Of several: how many, in words, unless it is one. */
  agent: string;
  /** The approvals that it lists, in the order of `approval.parameters`. Absent: it is about one thing. */
  members?: QuestionMember[];
  /** The agents that asked for this call, the first one first. */
  via?: readonly string[] | undefined;
  /** Of an approval: one sentence, which is the question. */
  text: string;
  options: string[];
  /** Only for an approval: what exactly would be run. */
  approval?: {
    tool: string;
    parameters: Record<string, unknown>;
    cwd?: string;
    reason: string;
    /** Agents' words about themselves that are a reason to ask. The answer `accept` accepts them, and approves. `was`: the line before. */
    unread?: Array<{ agent: string; line?: string; was?: string; actions: string[]; group?: string }>;
    /** Absent: a gateway before 0.4 asked. */
    card?: ApprovalCard;
  };
  expires_at: number;
  /** What can be kept with a yes (`keep`): of a question that lists several, what each of them offers. Absent: nothing. */
  offers?: PermissionOffer[];
  /**
   * Of an approval: the people who were asked beside the conversation's own. Empty: the person who caused it may not give it, and
   * it reached no person who may.
   */
  asked?: AskedPerson[];
  answer?: string;
  answered_by?: string;
  /** As the person's chat app calls them. */
  answered_by_name?: string;
  /** How it was answered: `passkey`, `press`, `token`, `tap in Telegram`, `tap on another device`. */
  answered_how?: string;
};

/**
 * A question of `GET /v1/questions`. `title`: of its conversation, when that is in the list. `plain`: a harmless change that a person of
 * the home asked for, and no other words could have.
 */
export type OpenQuestion = TurnQuestion & {
  channel: string;
  conversation: string;
  title?: string;
  plain?: true;
};

/** An agent of `GET /v1/agents`. */
export type AgentView = {
  id: string;
  online: boolean;
  /** `running`: it has an open call or a job. */
  status: "running" | "idle" | "offline";
  reason?: string;
  last_seen: number | null;
  last_active: number | null;
  type: string | null;
  version: string | null;
  capabilities: string;
  /** As it says itself. It counts once its texts are accepted. */
  group?: string;
  foreign: boolean;
  /** A device of the broker that the bridge hosts. `GET /v1/devices` has more of it. */
  hosted?: true;
  /** True when it has a valid key. */
  paired: boolean;
  features: string[];
  actions: string[];
  /** The text of the first condition that is wrong. */
  problem?: string;
  /** What the agent, the bridge and the gateway see of it. Absent: nothing. */
  conditions?: ShownCondition[];
  /**
   * Its texts about itself that nobody has accepted yet; until then they taint calls to others. `was`: the previous line. `by_use`: they are the
   * first ones of an agent that only `ALLOW_UNSIGNED_AGENTS=*` lets in, and do not taint calls to other such agents.
   */
  new_text?: { line?: string; was?: string; actions: string[]; group?: string; by_use?: true };
  counts: { calls: number; success: number; error: number; open: number };
};

/** `GET /v1/devices`. */
export type DeviceList = {
  devices: DeviceView[];
  /** Descriptions of publishers that the bridge left out, by the reason; null: it did not say. */
  left_out: { why: string; count: number }[] | null;
};

/** A hosted device of `GET /v1/devices`. Times: epoch ms. */
export type DeviceView = {
  /** Its id as an agent. */
  id: string;
  name: string;
  area: string | null;
  /** The names that a person gave, and that are shown in place of the publisher's; null: none. */
  own: { name: string | null; area: string | null };
  /** As a model sees it. */
  line: string;
  model: string | null;
  /** The program that describes it. */
  publisher: string | null;
  online: boolean;
  reason?: string;
  last_seen: number | null;
  /** It was silent for a week, so no model is told of it. */
  ghost: boolean;
  /** `read`: changes are refused. `ask`: each change asks that no permission covers. `allowed`: permissions cover all harmless ones, for everybody. */
  mode: "off" | "read" | "ask" | "allowed";
  /** A person chose the mode; otherwise it follows the bridge's setting. */
  chosen: boolean;
  /** Names what an allowance is for; it changes with what the device's actions send. */
  allow: string;
  /** Who allowed it for everybody last. */
  allowed_by: string | null;
  allowed_at: number | null;
  /** It has changed since it was allowed, so the next change asks. */
  changed: boolean;
  actions: DeviceActionView[];
  /** Actions that change a setting of it: whether they are offered (each asks), and their names. */
  settings: { offered: boolean; actions: string[] };
  /** Its last reports; null: the bridge did not answer. */
  readings: DeviceReadingView[] | null;
  /** Its parts that are not offered, with the reason. */
  not_offered: Array<{ what: string; why: string }>;
  /** Its texts about itself that nobody has accepted yet, as with an agent. */
  new_text?: { line?: string; was?: string; actions: string[]; group?: string };
};

/** `dangerous`: it asks each time. `retained`: the broker repeats the command when the device comes back. */
export type DeviceActionView = {
  name: string;
  description: string;
  /** JSON Schema. */
  parameters: Record<string, unknown>;
  effect: string;
  /** Ms that it may take. */
  timeout_ms?: number;
  dangerous?: true;
  why?: string;
  retained?: true;
};

/** `at`: when the bridge received it; null: unknown. */
type DeviceReadingView = {
  name: string;
  value: string | number | boolean | null;
  /** The value in words, with its unit. */
  text: string;
  unit?: string | undefined;
  kind: string;
  class?: string | undefined;
  at: number | null;
  unavailable?: boolean | undefined;
  /** It is free text, which anybody may have written. */
  tainted: boolean;
};

/** `GET /v1/status`, without the home's name. */
export type HomeStatus = {
  version: string;
  bridge: {
    online: boolean;
    id: string | null;
    version: string | null;
    connected_at: number | null;
    last_seen: number | null;
    /** True when it can update itself on command; null while it is offline. */
    updates: boolean | null;
    /** The last update command. */
    update: BridgeUpdate | null;
    /** The reason why it is not served. */
    problem?: string;
    /** What the gateway sees of it, and what it says itself while it is connected. Absent: nothing. */
    conditions?: ShownCondition[];
  };
  /** What is wrong with the gateway itself: its disk is full, its rows are damaged. Absent: nothing. */
  conditions?: ShownCondition[];
  /** `over`: agents beyond `max`, of which nothing is stored. Absent: there are none. */
  agents: { known: number; online: number; max?: number; over?: number };
  /** The state of the audit log's outside store; absent when there is none. */
  audit?: SinkState;
  calls: Array<{
    id: string;
    agent: string;
    command: string;
    state: string;
    since: number;
    deadline: number;
  }>;
};

/** The last update of the bridge; `ok` is null while it runs. */
export type BridgeUpdate = { id: string; ok: boolean | null; text: string };

/** `waiting`: bytes that were not sent yet. `since`: when the oldest of them came. `lost`: lines that were never sent. */
export type SinkState = { waiting: number; since: number | null; problem: string | null; lost: number };

/** `/v1/console/session`. */
export type SessionView = {
  signed_in: boolean;
  /** True when people sign in with Cloudflare Access. */
  access: boolean;
  name?: string;
  home?: string;
  role?: TokenView["role"];
  scopes?: string[];
};

/** A connection of a chat app. */
export type ConnectionView = {
  channel: string;
  connection: string;
  kept_in: "console" | "CHANNELS";
  webhook: string;
  /** True when the console can check it; other connections are set up by hand. */
  checks: boolean;
  made_by?: string;
  made_at?: number;
};

/** `GET /v1/connections`. `origin`: this gateway's address for platforms. */
export type Connections = { origin: string; connections: ConnectionView[] };

type AccountView = { account: string; link?: string };

/** `GET /v1/connections/{channel}/{connection}`. `here`: the platform delivers to this gateway. */
export type ConnectionState = ConnectionView & AccountView & { deliveries: Deliveries & { here?: boolean } };

/** `GET /v1/polling`. */
export type PolledBots = { bots: PolledBot[] };

/** One of `GET /v1/polling`. `path`: where its updates are handed over, with `secret` in Telegram's header. */
export type PolledBot = {
  home: string;
  connection: string;
  token: string;
  secret: string;
  base_url: string;
  path: string;
  allowed_updates: string[];
};

/** `POST /v1/connections`. `todo`: what the person still has to do. */
export type MadeConnection = ConnectionView & AccountView & { todo: string[] };

/** The platform's report on its deliveries. */
export type Deliveries = {
  /** The address of deliveries; null: none yet; absent: the platform does not tell. */
  webhook?: string | null;
  /** Updates that wait to be delivered. */
  waiting?: number;
  last_error?: string;
  /** Epoch ms. */
  last_error_at?: number;
};

/** `GET /v1/console/usage`. */
export type UsageView = {
  /** Turns since the home was set up, and how many of them were answered without a model. */
  turns: number;
  turns_without_model: number;
  /** False when days are not counted. */
  counted: boolean;
  priced: boolean;
  /** The oldest first; the last one is today. */
  days: DayView[];
  budgets: Record<string, { tokens?: number; model_calls?: number }>;
  models: Array<{ name: string; failures: number }>;
};

type DayView = {
  day: string;
  tokens: number;
  model_calls: number;
  models: Array<{ name: string; usd?: number } & Usage>;
};

/** A program that a person connected over OAuth, of `GET /v1/oauth/grants`. Times: epoch ms. */
export type OauthGrantView = {
  id: string;
  person: string;
  /** The name by which the program calls itself. */
  client: string;
  /** The host to which its sign-in returned. */
  host: string;
  scopes: Array<"ask" | "command">;
  trusted: boolean;
  /** `consented`: it never came for its token; `token_given`: it made no request since. */
  state: "consented" | "token_given" | "connected" | "ended" | "expired";
  made_at: number;
  token_at: number | null;
  used_at: number | null;
  expires_at: number;
  ended_at: number | null;
  /** A person, or the reason. */
  ended_by: string | null;
};

/** A client that was entered by hand, of `GET /v1/oauth/clients`. */
export type OauthClientView = {
  id: string;
  name: string;
  redirect_uris: string[];
  /** It has a secret. */
  confidential: boolean;
  made_by: string;
  made_at: number;
};

/** A token of `GET /v1/tokens`. Times: epoch ms. */
export type TokenView = {
  id: string;
  name: string;
  role: "owner" | "member" | "guest";
  scopes: Array<"ask" | "command" | "approve" | "admin" | "metrics">;
  expires_at: number | null;
  created_at: number | null;
  last_used_at: number | null;
  made_by: string | null;
  /** `secret`: a token of API_TOKENS, which can only be removed there. */
  source: "secret" | "home";
  /** True for the caller's own where `POST /v1/tokens/rotate` replaces it. */
  replaceable?: boolean;
};

/** A borrower's rights. `ask`: questions in words. `command`: actions by name. */
export type GrantScope = "ask" | "command";

/** A grant as its lender sees it. Times: epoch ms. */
export type LentView = {
  id: string;
  label: string;
  agents: string[];
  scopes: GrantScope[];
  reads_only: boolean;
  /** `offered`: the invitation was not used yet. */
  state: "offered" | "lent" | "expired" | "revoked";
  expires_at: number;
  made_by: string;
  made_at: number;
  taken_at: number | null;
  /** The newest of its calls that are still known, which is two days. */
  used_at: number | null;
};

/** The agents that another home lends, as this home sees them. Times: epoch ms. */
export type BorrowedView = {
  name: string;
  /** The lender's address; null: it is at this gateway. */
  url: string | null;
  agents: Array<{ id: string; online: boolean; line: string; actions: string[]; new_text?: true }>;
  scopes: GrantScope[];
  reads_only: boolean;
  expires_at: number;
  seen_at: number | null;
  problem: string | null;
  by: string;
  at: number;
};

export type LendingView = { lent: LentView[]; borrowed: BorrowedView[] };

/** The report of an agent to a command: a success, also when it reports a failure. */
export type CommandReport = {
  request_id: string;
  agent: string;
  report_type: string;
  payload: Record<string, unknown>;
  elapsed_ms: number;
};
