/**
 * One home: its bridge, its agents, its open calls.
 *
 * Home holds the bridge's socket and the ledger of calls. A call is stored before it is sent, and its result is stored before
 * it is acknowledged (the platform holds every outgoing message back until the writes before it are
 * durable). Until then each hop sends again, and each recognises what it has seen. Conversations are called
 * back by name, never by a callback, so that everything may sleep while a device works.
 */
import { DurableObject } from "cloudflare:workers";
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { Outcome, Usage } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { STANDBY } from "@edgecall/core/protocol/frames.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import type { AgentListQuery, AgentPage } from "../api/agent-list.ts";
import type {
  AgentView,
  DeviceList,
  DeviceView,
  HomeStatus,
  LendingView,
  OauthClientView,
  OauthGrantView,
  TokenView,
} from "../api/answers.ts";
import { type AuditFilter, type AuditPage, type AuditQuery, GATEWAY_AGENT } from "../api/audit.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../../features/backup/contract.ts";
import type {
  CancelledCall,
  CommandRequest,
  SettledOutcome,
  SubmitReply,
  SubmitRequest,
} from "../api/calls.ts";
import type { ClockBody, ClockView } from "../../features/rules/clock-contract.ts";
import type { ListedConversation, Listing, ListQuery } from "../api/conversation-list.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "../../features/pairing/contract.ts";
import type { DeviceBody, Person } from "../api/devices.ts";
import type { CallTarget } from "../api/edge-call.ts";
import { errorBody } from "../api/errors.ts";
import type { FileQuery, ListedFile, NewFiles } from "../api/files.ts";
import type { FindQuery, FoundWords } from "../api/find-agents.ts";
import type { HomeApi, Targets } from "../api/home-api.ts";
import type { HomeToolReply, HomeToolRequest } from "../api/home-tools.ts";
import type { Enrolled, HomeKeys, KeyGrant, NewKey, Readmitted, Removed } from "../api/keys.ts";
import { mayAnswer, maySee, type Owned, type Viewer } from "../api/may-see.ts";
import type {
  ClientProof,
  CodeRequest,
  Consent,
  ConsentResult,
  NewOauthClient,
  OauthRefusal,
  RefreshRequest,
  StoredClient,
  StoredDocument,
  TokenGrant,
} from "../../features/oauth/contract.ts";
import {
  type BorrowInto,
  type Borrowing,
  type Invitation,
  type Lending,
  type NewLending,
  type PeerKind,
  type PeerReply,
  UNKNOWN_PEER,
} from "../../features/lending/contract.ts";
import type { Plan } from "../api/plan.ts";
import type { NewOutlet, OutletView, PressClaims, PushView } from "../../features/push/contract.ts";
import type { AnswerResult, OpenQuestions, Question } from "../api/questions.ts";
import type { RosterQuestion } from "../api/roster.ts";
import type { LostNotice, Pressed, RuleBody, RuleChanged, RuleList, RulePress } from "../../features/rules/contract.ts";
import type {
  AdmittedSender,
  Knock,
  PairingRequest,
  SenderKey,
  StoredConnection,
  Stranger,
} from "../../features/chat/sender-contract.ts";
import type { NewToken } from "../api/tokens.ts";
import {
  type Admission,
  type DayUsage,
  type ModelUsage,
  type ReportedTurn,
  relayUnsigned,
} from "../../features/usage/contract.ts";
import { backupPage, dropStaleImport, hasStaleImport, restoreStep } from "../../features/backup/backup.ts";
import type { Env } from "../env.ts";
import { isBlank, migrate, type NewerRowsError, newerRows, postponeAlarm } from "../migrate.ts";
import { RetrySchedule } from "../retry-schedule.ts";
import type { Connection, Role } from "../../features/chat/settings.ts";
import type { ApiToken } from "../settings/tokens.ts";
import { closeQuietly } from "../sockets.ts";
import { newTracer } from "../trace.ts";
import { AgentKeys } from "./agents/agent-keys.ts";
import { agentPage } from "./agents/agent-page.ts";
import { Agents } from "./agents/agents.ts";
import { GatewayKey } from "./agents/gateway-key.ts";
import { HomeRoster } from "./agents/home-roster.ts";
import {
  bridgeRefusal,
  enrollKey,
  listKeys,
  refuseBridge,
  removeAgent,
  revokeKey,
} from "./agents/key-enrollment.ts";
import { readmitAgent } from "./agents/readmit.ts";
import { HomeAlarm } from "./alarm.ts";
import { Audit } from "./record/audit.ts";
import { followRecord } from "../../features/audit/home/follow-record.ts";
import { addToRecord } from "../../features/audit/home/outlet.ts";
import { BridgeFrames } from "./bridge/bridge-frames.ts";
import { BridgeSocket } from "./bridge/bridge-socket.ts";
import { confirmOutcomes } from "./calls/acks.ts";
import { AgentLoad } from "./calls/agent-load.ts";
import { sessionEnded } from "./calls/agent-tools.ts";
import { acceptWatcher } from "./calls/call-watchers.ts";
import { cancelCalls, watchCalls } from "./calls/dispatch.ts";
import { JOB, Ledger } from "./calls/ledger.ts";
import { LifeSigns } from "./calls/life-signs.ts";
import { PendingAcks } from "./calls/pending-acks.ts";
import { submit, submitCommand } from "./calls/submit.ts";
import { ChannelConnections } from "../../features/chat/home/channel-connections.ts";
import { ChannelSenders } from "../../features/chat/home/senders.ts";
import { HomeClock } from "../../features/rules/home/clock.ts";
import type { HomeContext, HomeStores } from "./context.ts";
import { DeviceStates } from "./devices/device-states.ts";
import { changeDevice, deviceViews, forgetDevice } from "../../features/devices/home/device-views.ts";
import { FileList } from "./files/file-list.ts";
import { OauthClients } from "../../features/oauth/home/clients.ts";
import { Grants } from "../../features/oauth/home/grants.ts";
import {
  consent,
  endGrant,
  redeemCode,
  refreshGrant,
  removeClient,
  revokeFor,
  useGrant,
} from "../../features/oauth/home/token-grants.ts";
import { DeviceCodes } from "../../features/pairing/home/device-codes.ts";
import { codeState, pairDevice } from "../../features/pairing/home/device-pairing.ts";
import { Borrowed } from "../../features/lending/home/borrowed.ts";
import { borrow, giveBack, lend, lendingView, takeBack } from "../../features/lending/home/grants.ts";
import { onPeer } from "../../features/lending/home/incoming.ts";
import { refreshBorrowed } from "../../features/lending/home/lender-calls.ts";
import { Lent } from "../../features/lending/home/lent.ts";
import { PeerRates } from "../../features/lending/home/peer-rates.ts";
import { OutletStore } from "../../features/push/home/outlet-store.ts";
import { answerQuestion, closeQuestions, openQuestions } from "./questions/approvals.ts";
import { Questions } from "./questions/questions.ts";
import { Replies } from "./questions/replies.ts";
import { AgentAnswers } from "../../features/rules/home/agent-answers.ts";
import { devicesGone, onPresence } from "../../features/rules/home/alarm-part.ts";
import { changeClock } from "../../features/rules/home/clock-changed.ts";
import { onLost } from "../../features/rules/home/hand-over.ts";
import { pressLinked, pressRule } from "../../features/rules/home/press.ts";
import { RuleStore } from "../../features/rules/home/rule-store.ts";
import { changeRuleBy, removeRuleBy, ruleList } from "../../features/rules/home/views.ts";
import { HOME_MIGRATIONS } from "./schema.ts";
import { runHomeTool } from "../../features/sessions/home/tools.ts";
import { activityOf, planOf, statusOf } from "./status.ts";
import { StoredSecrets } from "./stored-secrets.ts";
import { HomeTokens } from "./people/tokens.ts";
import { ConversationList } from "./people/conversation-list.ts";
import { metricsPage } from "../../features/usage/home/metrics.ts";
import { ModelHabitStore } from "../../features/usage/home/model-habits.ts";
import { admitToRelay, countRelayed } from "../../features/usage/home/relay-admission.ts";
import { Spending } from "../../features/usage/home/spending.ts";
import { UsageCounters } from "../../features/usage/home/usage-counters.ts";

export class Home extends DurableObject<Env> implements HomeApi {
  /** Undefined: this home has no tables, since no request yet had anything to store. */
  #opened: OpenHome | undefined;
  #newer: NewerRowsError | undefined;

  /** A request for a made-up home leaves nothing behind: the tables are made when they are needed. */
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (hasStaleImport(ctx)) void ctx.blockConcurrencyWhile(() => dropStaleImport(ctx));
    this.#newer = newerRows(ctx.storage, HOME_MIGRATIONS);
    if (!this.#newer && !isBlank(ctx.storage)) this.#opened = openHome(ctx, env);
  }

  /** @throws NewerRowsError */
  get #open(): OpenHome {
    if (this.#newer) throw this.#newer;
    this.#opened ??= openHome(this.ctx, this.env);
    return this.#opened;
  }

  get #home(): HomeContext {
    return this.#open.home;
  }

  /** True if the home has no row that could let anybody in. Methods that a stranger can reach look at it first. */
  get #isBlank(): boolean {
    return this.#opened === undefined && !this.#newer;
  }

  // Calls and questions

  async submit(request: SubmitRequest): Promise<SubmitReply> {
    const reply = await submit(this.#home, request);
    return { ...reply, rosterVersion: this.#home.roster.version(Date.now()) };
  }

  async runTool(request: HomeToolRequest): Promise<HomeToolReply> {
    return await runHomeTool(this.#home, request);
  }

  async pressRule(press: RulePress): Promise<Pressed> {
    return await pressRule(this.#home, press);
  }

  async noticeLost(lost: LostNotice): Promise<void> {
    await onLost(this.#home, lost);
  }

  async rules(viewer: Viewer): Promise<RuleList> {
    return ruleList(this.#home, viewer);
  }

  async clock(): Promise<ClockView> {
    return this.#home.clock.view();
  }

  async changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>> {
    return await changeClock(this.#home, change, by);
  }

  async changeRule(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged> {
    return await changeRuleBy(this.#home, id, change, viewer);
  }

  async removeRule(id: string, viewer: Viewer): Promise<boolean> {
    return await removeRuleBy(this.#home, id, viewer);
  }

  async pressLink(claims: PressClaims): Promise<Pressed | undefined> {
    return this.#isBlank ? undefined : await pressLinked(this.#home, claims);
  }

  async push(principal: string): Promise<PushView> {
    const { outlets } = this.#home;
    return { public_key: (await outlets.vapid()).publicKey, outlets: outlets.views(principal) };
  }

  async addOutlet(outlet: NewOutlet): Promise<OutletView | undefined> {
    return await this.#home.outlets.put(outlet, Date.now());
  }

  async removeOutlet(id: string, principal: string): Promise<boolean> {
    return this.#home.outlets.remove(id, principal);
  }

  async sessionEnded(callId: string, outcome: Outcome): Promise<boolean> {
    return !this.#isBlank && (await sessionEnded(this.#home, callId, outcome));
  }

  async peer(kind: PeerKind, token: string, body: string): Promise<PeerReply> {
    return this.#isBlank ? UNKNOWN_PEER : await onPeer(this.#home, kind, token, body);
  }

  async lending(): Promise<LendingView> {
    return lendingView(this.#home);
  }

  async lend(lending: NewLending, by: string, url: string): Promise<Lending> {
    return await lend(this.#home, lending, by, url);
  }

  async takeBack(grant: string, by: string): Promise<boolean> {
    return await takeBack(this.#home, grant, by);
  }

  async borrow(invitation: Invitation, into: BorrowInto): Promise<Borrowing> {
    return await borrow(this.#home, invitation, into);
  }

  async acceptLentWords(name: string): Promise<boolean> {
    return this.#home.borrowed.acceptWords(name);
  }

  async giveBack(name: string, by: string): Promise<boolean> {
    return await giveBack(this.#home, name, by);
  }

  async command(request: CommandRequest): Promise<SubmitReply> {
    return await submitCommand(this.#home, request);
  }

  async cancel(calls: CancelledCall[], conversation: string): Promise<string[]> {
    const sent = await cancelCalls(this.#home, calls, conversation);
    for (const { id } of calls) await closeQuestions(this.#home, id);
    return sent;
  }

  async watch(ids: string[]): Promise<void> {
    await watchCalls(this.#home, ids);
  }

  async outcome(agent: string, id: string, viewer: Viewer): Promise<SettledOutcome | null | undefined> {
    const { ledger } = this.#home;
    const call = ledger.get(id);
    if (!call || (call.agent !== agent && call.flags.any?.of !== agent)) return undefined;
    if (call.conversation !== null || call.asker) return undefined;
    // A question in words that became a job has its answer in the job's row.
    const asked = call.command === JOB ? ledger.get(call.lateFor ?? "") : call;
    const kind = asked?.command === "prompt" && call.caller.channel === "mcp" ? "words" : "result";
    return maySee(viewer, { kind, by: call.caller.principal }) ? (call.outcome ?? null) : undefined;
  }

  async answer(id: string, answer: string, viewer: Viewer, isThere = false): Promise<AnswerResult> {
    const question = this.#home.questions.get(id);
    const owned = question && ownedBy(this.#home, question, isThere ? viewer : undefined);
    // A reader of the conversation knows of the question, and learns what is missing. For everybody else it does not exist.
    if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }))
      return { ok: false, status: 404, code: "not_found", message: "no such question" };
    const mayApprove = owned.kind === "approval" && mayAnswer(viewer, owned);
    return await answerQuestion(this.#home, id, answer, {
      principal: viewer.name,
      displayName: viewer.displayName,
      mayApprove,
      // In a chat an owner lets people in, too.
      mayAccept: mayApprove && (viewer.scopes.includes("admin") || (isThere && viewer.role === "owner")),
    });
  }

  async questions(viewer: Viewer, limit: number): Promise<OpenQuestions> {
    const { questions, conversations } = this.#home;
    const open = questions.open().filter((question) => maySee(viewer, ownedBy(this.#home, question)));
    const shown = open.slice(0, limit).map((question) => {
      const title = conversations.titleOf(question.conversation);
      const { via } = this.#home.ledger.get(question.call)?.caller.chain ?? {};
      // The question itself has what its members would run.
      const members = question.members?.map((one) => ({ ...one, approval: null }));
      return { ...question, via, ...(title !== undefined && { title }), ...(members && { members }) };
    });
    return { questions: shown, total: open.length };
  }

  // Agents, their keys, and new devices

  async findAgents(query: FindQuery, reach?: readonly string[]): Promise<FoundWords> {
    return await this.#home.roster.find(query, reach, Date.now());
  }

  async target(agent: string): Promise<CallTarget | undefined> {
    return this.#home.roster.target(agent, Date.now());
  }

  async targets(): Promise<Targets> {
    const { roster } = this.#home;
    const now = Date.now();
    const { agents: listed, excerptOf } = await roster.forQuestion(undefined, now);
    return {
      agents: listed.flatMap(({ id }) => roster.target(id, now) ?? []),
      ...(excerptOf && { excerptOf }),
    };
  }

  async agents(query: AgentListQuery): Promise<AgentPage | undefined> {
    return await agentPage(this.#home, query);
  }

  async agent(id: string): Promise<AgentView | undefined> {
    return this.#home.agents.views([id], activityOf(this.#home), Date.now())[0];
  }

  async devices(all: boolean): Promise<DeviceList> {
    return await deviceViews(this.#home, all);
  }

  async changeDevice(
    id: string,
    change: DeviceBody,
    by: Person,
  ): Promise<DeviceView | "changed" | "unknown"> {
    return changeDevice(this.#home, id, change, by);
  }

  async forgetDevice(id: string, by: Person): Promise<"forgotten" | "online" | "no_bridge" | "unknown"> {
    const forgotten = forgetDevice(this.#home, id, by);
    if (forgotten === "forgotten") await devicesGone(this.#home);
    return forgotten;
  }

  async acceptText(agent: string, line: string | undefined): Promise<"accepted" | "changed" | "unknown"> {
    return this.#home.agents.acceptText(agent, line);
  }

  async removeAgent(agent: string): Promise<Removed> {
    const removed = removeAgent(this.#home, agent);
    if (removed === "removed") await devicesGone(this.#home);
    return removed;
  }

  async enrollAgent(key: NewKey, grant: KeyGrant): Promise<Enrolled> {
    return await enrollKey(this.#home, key, grant);
  }

  async readmitAgent(agent: string): Promise<Readmitted> {
    return await readmitAgent(this.#home, agent);
  }

  async revokeAgentKey(agent: string): Promise<boolean> {
    const isRevoked = await revokeKey(this.#home, agent);
    if (isRevoked) await devicesGone(this.#home);
    return isRevoked;
  }

  async keys(): Promise<HomeKeys> {
    return await listKeys(this.#home);
  }

  async publicKey(): Promise<string> {
    return await this.#home.gatewayKey.publicKey();
  }

  async makeDeviceCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined> {
    return await this.#home.deviceCodes.make(wanted, Date.now());
  }

  async deviceCode(end: string): Promise<CodeState & { online?: boolean }> {
    return codeState(this.#home, end);
  }

  async pairDevice(body: PairBody, end: string): Promise<PairResult> {
    return this.#isBlank ? { ok: false, problem: "wrong_code" } : await pairDevice(this.#home, body, end);
  }

  async signManifest(named: string, body: string): Promise<string | undefined> {
    return this.#isBlank ? undefined : await this.#home.gatewayKey.signManifest(named, body);
  }

  async updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined> {
    return this.#home.bridge.requestUpdate(id, Date.now());
  }

  // Conversations

  async plan(reserve: number | undefined, began?: Listing, question?: RosterQuestion): Promise<Plan> {
    const now = Date.now();
    refreshBorrowed(this.#home, now);
    // Read first: a change while the search index is made calls for a new plan.
    const version = this.#home.roster.version(now);
    const roster = await this.#home.roster.forQuestion(question, now);
    const plan = planOf(this.#home, roster, version);
    if (reserve !== undefined) this.#home.spending.add(reserve, 1, Date.now());
    if (began) this.#home.conversations.turnBegan(began, Date.now());
    return plan;
  }

  async turnEnded(turn: ReportedTurn, confirmed: readonly string[]): Promise<void> {
    await confirmOutcomes(this.#home, confirmed);
    const { counters, conversations } = this.#home;
    const now = Date.now();
    counters.turnEnded(turn, now);
    if (turn.conversation !== undefined) conversations.turnEnded(turn.conversation, now);
  }

  async conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]> {
    return this.#home.conversations.of(principal, query);
  }

  async renameConversation(name: string, title: string): Promise<string | undefined> {
    return this.#home.conversations.rename(name, title);
  }

  async sharedWith(name: string): Promise<string[]> {
    return this.#home.conversations.sharedWith(name);
  }

  async shareConversation(name: string, principals: string[]): Promise<boolean> {
    return this.#home.conversations.share(name, principals);
  }

  async forgetConversation(name: string): Promise<void> {
    this.#home.conversations.remove(name);
    this.#home.files.forget(name);
  }

  async addFiles(added: NewFiles): Promise<void> {
    this.#home.files.add(added);
  }

  async files(viewer: Viewer, query: FileQuery): Promise<ListedFile[]> {
    const { files, conversations, name } = this.#home;
    return files.page(viewer, conversations.sharedTo(viewer.name), name, query, Date.now());
  }

  async removeFile(id: string): Promise<void> {
    this.#home.files.remove(id);
  }

  // Models, budgets and the relay

  async correctSpending(difference: number, priced?: ModelUsage): Promise<void> {
    this.#home.spending.correct(difference, priced, Date.now());
  }

  async usage(days: number): Promise<DayUsage[]> {
    return this.#home.spending.days(days, Date.now());
  }

  async setBudgetTold(keys: BudgetKey[]): Promise<void> {
    this.#home.spending.setTold(keys, Date.now());
  }

  async modelFailed(name: string, times: number): Promise<void> {
    this.#home.spending.modelFailed(name, times, Date.now());
  }

  async modelAnswered(name: string): Promise<void> {
    this.#home.spending.modelAnswered(name);
  }

  async modelLearned(source: string, habits: string[], dropped: string[] = []): Promise<void> {
    this.#home.modelHabits.learned(source, { habits, dropped }, Date.now());
  }

  async isRelayToken(token: RelayToken): Promise<boolean> {
    return !this.#isBlank && (await this.#home.keys.isRelayToken(token));
  }

  async admitToRelay(token: RelayToken, reserve: number): Promise<Admission> {
    return this.#isBlank ? relayUnsigned(token.claims.agent) : await admitToRelay(this.#home, token, reserve);
  }

  async countRelayed(
    agent: string,
    reserved: number,
    model: string,
    usage: Usage | undefined,
  ): Promise<void> {
    if (usage) countRelayed(this.#home, { agent, reserved, model, usage });
  }

  // Chat apps

  async admit(stranger: Stranger, mayKnock: boolean): Promise<{ role: Role } | { knock: Knock | undefined }> {
    const role = this.#home.senders.roleOf(stranger);
    if (role) return { role };
    return { knock: mayKnock ? this.#home.senders.knock(stranger, Date.now()) : undefined };
  }

  async senders(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }> {
    return { pairings: this.#home.senders.requests(Date.now()), senders: this.#home.senders.senders() };
  }

  async approveSender(code: string, role: Role, by: string): Promise<AdmittedSender | undefined> {
    return this.#home.senders.approve(code, role, by, Date.now());
  }

  async dismissSender(code: string): Promise<boolean> {
    return this.#home.senders.dismiss(code);
  }

  async removeSender(sender: SenderKey): Promise<boolean> {
    return this.#home.senders.remove(sender);
  }

  async connection(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    return this.#isBlank ? undefined : await this.#home.connections.find(channel, name);
  }

  async connections(): Promise<StoredConnection[]> {
    return this.#home.connections.list();
  }

  async storeConnection(connection: Connection, by: string): Promise<boolean> {
    return await this.#home.connections.store(connection, by, Date.now());
  }

  async removeConnection(channel: string, name: string): Promise<boolean> {
    return this.#home.connections.remove(channel, name);
  }

  // Tokens of people and programs

  async tokens(): Promise<TokenView[]> {
    return this.#home.tokens.list();
  }

  async makeToken(token: NewToken): Promise<TokenView | undefined> {
    return this.#home.tokens.make(token, Date.now());
  }

  async revokeToken(id: string, withMade: boolean): Promise<TokenView[]> {
    return this.#home.tokens.revoke(id, withMade);
  }

  async useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined> {
    return this.#isBlank ? undefined : this.#home.tokens.use(by, this.#home.name, Date.now());
  }

  // Programs that people connected over OAuth

  async consent(given: Consent): Promise<ConsentResult> {
    return await consent(this.#home, given);
  }

  async redeemCode(request: CodeRequest): Promise<TokenGrant> {
    return await redeemCode(this.#home, request);
  }

  async refreshGrant(request: RefreshRequest): Promise<TokenGrant | undefined> {
    return this.#isBlank ? undefined : await refreshGrant(this.#home, request);
  }

  async useGrant(id: string): Promise<ApiToken | undefined> {
    return this.#isBlank ? undefined : useGrant(this.#home, id);
  }

  async grants(): Promise<OauthGrantView[]> {
    return this.#home.grants.list(Date.now());
  }

  async endGrant(id: string, by: Pick<ApiToken, "name" | "role">): Promise<boolean> {
    return endGrant(this.#home, id, by);
  }

  async revokeFor(grant: string, client: ClientProof): Promise<OauthRefusal | undefined> {
    return this.#isBlank ? undefined : await revokeFor(this.#home, grant, client);
  }

  async oauthClients(): Promise<OauthClientView[]> {
    return this.#home.oauthClients.list();
  }

  async oauthClient(id: string): Promise<StoredClient | undefined> {
    return this.#home.oauthClients.typed(id);
  }

  async makeOauthClient(client: NewOauthClient, by: string): Promise<boolean> {
    return this.#home.oauthClients.make(client, by, Date.now());
  }

  async removeOauthClient(id: string): Promise<boolean> {
    return await removeClient(this.#home, id);
  }

  async clientDocument(id: string): Promise<StoredDocument | undefined> {
    return this.#home.oauthClients.document(id);
  }

  async storeClientDocument(document: StoredDocument): Promise<void> {
    this.#home.oauthClients.storeDocument(document, Date.now());
  }

  // The record, figures and back-ups

  async record(callId: string, line: AuditLine): Promise<void> {
    addToRecord(this.#home, GATEWAY_AGENT, callId, [line]);
  }

  async audit({ follow, ...query }: AuditQuery): Promise<AuditLine[]> {
    if (follow) await followRecord(this.#home, query.agent);
    return this.#home.audit.find(query);
  }

  async auditPage(after: number, filter: AuditFilter): Promise<AuditPage> {
    return this.#home.audit.page(after, filter);
  }

  async status(): Promise<HomeStatus> {
    return statusOf(this.#home);
  }

  async metrics(): Promise<string> {
    return metricsPage(this.#home);
  }

  async namesToBackUp(): Promise<string[]> {
    return this.#home.conversations.names();
  }

  async backup(from: BackupPlace | undefined): Promise<BackupPage> {
    return backupPage(this.ctx.storage, from);
  }

  async restore(step: RestoreStep): Promise<void> {
    // A ledger of its own: this instance's memory belongs to the rows before.
    const giveUp = () => new Ledger(this.ctx.storage).giveUpAll(Date.now());
    await restoreStep({ ctx: this.ctx, migrations: HOME_MIGRATIONS, giveUp }, step);
  }

  // Sockets and the alarm

  /** Only the Worker gets here. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/bridge") return await this.#connectBridge(request.headers);
    if (url.pathname === "/questions") return this.#home.questions.subscribe();
    const call = this.#home.ledger.get(url.searchParams.get("call") ?? "");
    if (!call) return new Response("no such call", { status: 404 });
    return acceptWatcher(this.ctx, call, url.searchParams.has("live") && openQuestions(this.#home, call.id));
  }

  async #connectBridge(headers: Headers): Promise<Response> {
    const token = headers.get("x-edgecall-token");
    if (token !== null) {
      const refused = this.#isBlank ? bridgeRefusal("unsigned") : await refuseBridge(this.#home, token);
      if (refused) return refused;
    }
    const { bridge, alarm } = this.#home;
    // A bridge that was replaced waits until its place is free.
    if (headers.has(STANDBY) && bridge.isConnected(Date.now())) {
      bridge.standbyAsked(Date.now());
      return Response.json(errorBody("another_bridge", "another bridge of this home is connected"), {
        status: 409,
      });
    }
    const response = bridge.accept(headers, Date.now());
    await alarm.arm();
    return response;
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const { home, frames } = this.#open;
    if (home.bridge.isBridge(socket)) await frames.onMessage(socket, message);
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    closeQuietly(socket, "bye");
    await this.#open.frames.onClose();
    await onPresence(this.#home);
  }

  /** A protocol error or a broken line. The platform calls this in place of `webSocketClose`. */
  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    if (this.#newer) return await postponeAlarm(this.ctx.storage);
    await dropStaleImport(this.ctx);
    // A blank home has an alarm only for an import that was staged here.
    if (!this.#isBlank) await this.#home.alarm.onAlarm(this.#home);
  }
}

/** A home whose tables exist. */
type OpenHome = { home: HomeContext; frames: BridgeFrames };

/** Makes the tables. Exported for tests of single parts. */
export function openHome(ctx: DurableObjectState, env: Env): OpenHome {
  const { storage } = ctx;
  migrate(storage, HOME_MIGRATIONS);
  const name = ctx.id.name ?? "";
  const bridge = new BridgeSocket(ctx);
  const gatewayKey = new GatewayKey(storage);
  const keys = new AgentKeys(storage, env, gatewayKey);
  const agents = new Agents(storage, bridge, keys, env);
  const borrowed = new Borrowed(storage);
  const states = new DeviceStates(bridge);
  const conversations = new ConversationList(storage);
  const files = new FileList(storage);
  const stores: HomeStores = {
    ctx,
    env,
    name,
    bridge,
    agents,
    roster: new HomeRoster(agents, keys, bridge, borrowed, states),
    states,
    keys,
    gatewayKey,
    ledger: new Ledger(storage),
    acks: new PendingAcks(),
    load: new AgentLoad(),
    life: new LifeSigns(),
    agentWaits: new Map(),
    deliveryRetries: new RetrySchedule(),
    questions: new Questions(ctx),
    replies: new Replies(),
    questionRetries: new RetrySchedule(),
    clock: new HomeClock(storage, env),
    rules: new RuleStore(storage),
    ruleAnswers: new AgentAnswers(),
    outlets: new OutletStore(storage, new StoredSecrets(name, env.CONNECTIONS_KEY)),
    noticeRetries: new RetrySchedule(),
    audit: new Audit(storage, env),
    counters: new UsageCounters(storage, agents, conversations),
    spending: new Spending(storage),
    modelHabits: new ModelHabitStore(storage),
    conversations,
    files,
    deviceCodes: new DeviceCodes(storage),
    tokens: new HomeTokens(storage),
    grants: new Grants(storage),
    oauthClients: new OauthClients(storage),
    senders: new ChannelSenders(storage),
    connections: new ChannelConnections(storage, name, env.CONNECTIONS_KEY),
    lent: new Lent(storage),
    borrowed,
    peerRetries: new RetrySchedule(),
    peerRates: new PeerRates(),
    peerNews: new Map(),
    lendersAsked: new Map(),
    tracer: newTracer(env, "home", ctx),
  };
  const home: HomeContext = { ...stores, alarm: new HomeAlarm(stores) };
  return { home, frames: new BridgeFrames(home) };
}

/** A question belongs to its conversation; that of a call without one, to whoever made the call. */
function ownedBy(
  { conversations, ledger }: HomeContext,
  { call, conversation, approval }: Question,
  reader?: Viewer,
): Owned {
  const shared = conversations.sharedWith(conversation);
  return {
    kind: approval ? "approval" : "conversation",
    by: conversations.principalOf(conversation) ?? ledger.get(call)?.caller.principal,
    sharedWith: reader ? [...shared, reader.name] : shared,
  };
}
