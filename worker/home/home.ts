/**
 * One home: its bridge, its agents, its calls in flight.
 *
 * Holds the bridge's socket and the ledger of calls. A call is stored before it is sent and acknowledged
 * after its result is stored (the platform holds every outgoing message back until the writes before it are
 * durable); until then each hop sends again, and each recognises what it has seen. Conversations are called
 * back by name, never by a callback, so that everything may sleep while a device works.
 */

import { DurableObject } from "cloudflare:workers";
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { STANDBY } from "@edgecall/core/protocol/frames.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import type { AgentView, HomeStatus } from "../api/answers.ts";
import { type AuditFilter, type AuditPage, type AuditQuery, GATEWAY_AGENT } from "../api/audit.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../api/backup.ts";
import type { CommandRequest, SettledOutcome, SubmitReply, SubmitRequest } from "../api/calls.ts";
import type { ListedConversation, Listing, ListQuery } from "../api/conversation-list.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "../api/device-codes.ts";
import { AGENT_COMMANDS, type CallTarget } from "../api/edge-call.ts";
import { errorBody } from "../api/errors.ts";
import type { HomeApi } from "../api/home-api.ts";
import type { Enrolled, HomeKeys, KeyGrant, NewKey, Removed } from "../api/keys.ts";
import { mayAnswer, maySee, type Owned, type Viewer } from "../api/may-see.ts";
import type { Plan } from "../api/plan.ts";
import type { AnswerResult, Question } from "../api/questions.ts";
import type {
  AdmittedSender,
  Knock,
  PairingRequest,
  SenderKey,
  StoredConnection,
  Stranger,
} from "../api/senders.ts";
import type { NewToken } from "../api/tokens.ts";
import type { Admission, DayUsage, ModelUsage, ReportedTurn } from "../api/usage.ts";
import { backupPage, dropStaleImport, hasStaleImport, restoreStep } from "../backup.ts";
import type { Env } from "../env.ts";
import { isBlank, migrate } from "../migrate.ts";
import type { Connection, Role } from "../settings/channels.ts";
import { readSettings } from "../settings/settings.ts";
import type { ApiToken } from "../settings/tokens.ts";
import { closeQuietly } from "../sockets.ts";
import { AgentKeys } from "./agents/agent-keys.ts";
import { Agents } from "./agents/agents.ts";
import { GatewayKey } from "./agents/gateway-key.ts";
import { KeyDesk, refusedBridge } from "./agents/key-desk.ts";
import { Audit } from "./audit/audit.ts";
import { AuditOutlet } from "./audit/outlet.ts";
import { BridgeDesk } from "./bridge/bridge-desk.ts";
import { BridgeSocket } from "./bridge/bridge-socket.ts";
import { acceptQuestionWatcher, acceptWatcher, tellQuestionsChanged } from "./calls/call-watchers.ts";
import { Dispatcher } from "./calls/dispatcher.ts";
import { Intake } from "./calls/intake.ts";
import { JOB, Ledger } from "./calls/ledger.ts";
import { KeptConnections } from "./channels/kept-connections.ts";
import { Pairings } from "./channels/pairing.ts";
import type { HomeContext } from "./context.ts";
import { DeviceCodes } from "./pairing/device-codes.ts";
import { PairingDesk } from "./pairing/pairing-desk.ts";
import { Asking } from "./questions/asking.ts";
import { Questions } from "./questions/questions.ts";
import { HOME_MIGRATIONS } from "./schema.ts";
import { statusOf } from "./status.ts";
import { HomeTokens, type TokenView } from "./tokens.ts";
import { BackupList } from "./usage/backup-list.ts";
import { ConversationList } from "./usage/conversation-list.ts";
import { homePage } from "./usage/metrics.ts";
import { admitToRelay, countRelayed, unsigned } from "./usage/relay-admission.ts";
import { Spending } from "./usage/spending.ts";
import { GATEWAY_TOOLS, Tallies } from "./usage/tallies.ts";

export class Home extends DurableObject<Env> implements HomeApi {
  /** Undefined: nothing was asked of this home yet that may be stored. */
  #made: HomeParts | undefined;

  /** A request for a made-up home leaves nothing behind: the tables are made when they are needed. */
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (hasStaleImport(ctx)) void ctx.blockConcurrencyWhile(() => dropStaleImport(ctx));
    if (!isBlank(ctx.storage)) this.#made = homeParts(ctx, env);
  }

  get #parts(): HomeParts {
    this.#made ??= homeParts(this.ctx, this.env);
    return this.#made;
  }

  /** True if nothing is on record here that could let anybody in. Methods that a stranger can reach look at it first. */
  get #isBlank(): boolean {
    return this.#made === undefined;
  }

  get #home(): HomeContext {
    return this.#parts.home;
  }

  get #dispatcher(): Dispatcher {
    return this.#parts.dispatcher;
  }

  get #asking(): Asking {
    return this.#parts.asking;
  }

  get #intake(): Intake {
    return this.#parts.intake;
  }

  get #desk(): BridgeDesk {
    return this.#parts.desk;
  }

  get #outlet(): AuditOutlet {
    return this.#parts.outlet;
  }

  get #spending(): Spending {
    return this.#parts.spending;
  }

  get #pairings(): Pairings {
    return this.#parts.pairings;
  }

  get #connections(): KeptConnections {
    return this.#parts.connections;
  }

  get #conversations(): ConversationList {
    return this.#parts.conversations;
  }

  get #keyDesk(): KeyDesk {
    return this.#parts.keyDesk;
  }

  get #pairingDesk(): PairingDesk {
    return this.#parts.pairingDesk;
  }

  async plan(reserve: number | undefined, began?: Listing): Promise<Plan> {
    const plan = this.#parts.plan();
    if (reserve !== undefined) this.#spending.add(reserve, 1, Date.now());
    if (began) this.#conversations.note(began, Date.now());
    return plan;
  }

  async knowsKeyOf(token: RelayToken): Promise<boolean> {
    return !this.#isBlank && (await this.#home.keys.isRelayToken(token));
  }

  async admitToRelay(token: RelayToken, reserve: number): Promise<Admission> {
    if (this.#isBlank) return unsigned(token.claims.agent);
    const desk = { keys: this.#home.keys, spending: this.#spending };
    return await admitToRelay(desk, token, reserve, readSettings(this.env), Date.now());
  }

  async relayed(agent: string, reserved: number, model: string, usage: Usage | undefined): Promise<void> {
    if (usage)
      countRelayed(this.#spending, { agent, reserved, model, usage }, readSettings(this.env), Date.now());
  }

  async spent(difference: number, priced?: ModelUsage): Promise<void> {
    this.#spending.correct(difference, priced, Date.now());
  }

  async usage(days: number): Promise<DayUsage[]> {
    return this.#spending.days(days, Date.now());
  }

  async conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]> {
    return this.#conversations.of(principal, query);
  }

  async renameConversation(name: string, title: string): Promise<string | undefined> {
    return this.#conversations.rename(name, title);
  }

  async sharedWith(name: string): Promise<string[]> {
    return this.#conversations.sharedWith(name);
  }

  async shareConversation(name: string, principals: string[]): Promise<boolean> {
    return this.#conversations.share(name, principals);
  }

  async forgetConversation(name: string): Promise<void> {
    this.#conversations.forget(name);
    this.#home.toBackUp.forgotten(name);
  }

  async budgetTold(keys: BudgetKey[]): Promise<void> {
    this.#spending.tell(keys, Date.now());
  }

  async modelFailed(name: string, times: number): Promise<void> {
    this.#spending.modelFailed(name, times, Date.now());
  }

  async modelAnswered(name: string): Promise<void> {
    this.#spending.modelAnswered(name);
  }

  async turnEnded(turn: ReportedTurn): Promise<void> {
    this.#home.tallies.turnEnded(turn);
    if (turn.conversation !== undefined) this.#home.toBackUp.seen(turn.conversation, Date.now());
  }

  async toBackUp(): Promise<string[]> {
    return this.#home.toBackUp.names();
  }

  async backup(from: BackupPlace | undefined): Promise<BackupPage> {
    return backupPage(this.ctx.storage, from);
  }

  async restore(step: RestoreStep): Promise<void> {
    // Of the rows alone: what this instance has in memory is of those before.
    const giveUp = () => new Ledger(this.ctx.storage).giveUp(Date.now());
    await restoreStep({ ctx: this.ctx, migrations: HOME_MIGRATIONS, giveUp }, step);
  }

  async metrics(): Promise<string> {
    return homePage(this.#home, this.#dispatcher.served);
  }

  async submit(request: SubmitRequest): Promise<SubmitReply> {
    return await this.#intake.submit(request);
  }

  async command(request: CommandRequest): Promise<SubmitReply> {
    return await this.#intake.command(request);
  }

  async cancel(ids: string[], conversation: string): Promise<string[]> {
    const sent = await this.#dispatcher.cancel(ids, conversation);
    for (const id of ids) await this.#asking.callEnded(id);
    return sent;
  }

  async watch(ids: string[]): Promise<void> {
    await this.#dispatcher.watch(ids);
  }

  async answer(id: string, answer: string, viewer: Viewer, isThere = false): Promise<AnswerResult> {
    const question = this.#home.questions.get(id);
    const owned = question && this.#ownedBy(question, isThere ? viewer : undefined);
    // Readers of the conversation know of it, and hear what is missing; for everybody else it is not there.
    if (!owned || !maySee(viewer, { ...owned, kind: "conversation" }))
      return { ok: false, status: 404, code: "not_found", message: "no such question" };
    const mayApprove = owned.kind === "approval" && mayAnswer(viewer, owned);
    return await this.#asking.answer(id, answer, { principal: viewer.name, mayApprove });
  }

  async questions(viewer: Viewer): Promise<Array<Question & { title?: string }>> {
    return this.#home.questions
      .open()
      .filter((question) => maySee(viewer, this.#ownedBy(question)))
      .map((question) => {
        const title = this.#conversations.titleOf(question.conversation);
        return { ...question, ...(title !== undefined && { title }) };
      });
  }

  /** A question belongs to its conversation; that of a lone call, to whoever made the call. */
  #ownedBy({ call, conversation, approval }: Question, reader?: Viewer): Owned {
    const shared = this.#conversations.sharedWith(conversation);
    return {
      kind: approval ? "approval" : "conversation",
      by: this.#conversations.principalOf(conversation) ?? this.#home.ledger.get(call)?.caller.principal,
      sharedWith: reader ? [...shared, reader.name] : shared,
    };
  }

  async targets(): Promise<CallTarget[]> {
    return this.#home.agents.targets(this.#home.bridge.heardAt(Date.now()), this.#dispatcher.served);
  }

  async agents(): Promise<AgentView[]> {
    return this.#home.agents.views(
      this.#home.bridge.heardAt(Date.now()),
      this.#dispatcher.served,
      this.#home.ledger.activity(),
      (id) => this.#home.keys.standing(id) === "signed",
    );
  }

  async acceptText(agent: string, line: string | undefined): Promise<"accepted" | "changed" | "unknown"> {
    return this.#home.agents.acceptText(agent, line);
  }

  async outcome(agent: string, id: string, viewer: Viewer): Promise<SettledOutcome | null | undefined> {
    const call = this.#home.ledger.get(id);
    if (call?.agent !== agent || call.conversation !== null) return undefined;
    // What a question ended in as a job is still its answer.
    const asked = call.command === JOB ? this.#home.ledger.get(call.lateFor ?? "") : call;
    const kind = asked?.command === "prompt" && call.caller.channel === "mcp" ? "words" : "result";
    return maySee(viewer, { kind, by: call.caller.principal }) ? (call.outcome ?? null) : undefined;
  }

  async admit(stranger: Stranger, mayKnock: boolean): Promise<{ role: Role } | { knock: Knock | undefined }> {
    const role = this.#pairings.roleOf(stranger);
    if (role) return { role };
    return { knock: mayKnock ? this.#pairings.knock(stranger, Date.now()) : undefined };
  }

  async pairings(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }> {
    return { pairings: this.#pairings.requests(Date.now()), senders: this.#pairings.senders() };
  }

  async approvePairing(code: string, role: Role, by: string): Promise<AdmittedSender | undefined> {
    return this.#pairings.approve(code, role, by, Date.now());
  }

  async dismissPairing(code: string): Promise<boolean> {
    return this.#pairings.dismiss(code);
  }

  async removeSender(sender: SenderKey): Promise<boolean> {
    return this.#pairings.remove(sender);
  }

  async connection(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    return this.#isBlank ? undefined : await this.#connections.find(channel, name);
  }

  async connections(): Promise<StoredConnection[]> {
    return this.#connections.list();
  }

  async keepConnection(connection: Connection, by: string): Promise<boolean> {
    return await this.#connections.keep(connection, by, Date.now());
  }

  async dropConnection(channel: string, name: string): Promise<boolean> {
    return this.#connections.remove(channel, name);
  }

  async enrolAgent(key: NewKey, grant: KeyGrant): Promise<Enrolled> {
    return await this.#keyDesk.enrol(key, grant);
  }

  async revokeAgentKey(agent: string): Promise<boolean> {
    return await this.#keyDesk.revoke(agent);
  }

  async removeAgent(agent: string): Promise<Removed> {
    return this.#keyDesk.remove(agent);
  }

  async keys(): Promise<HomeKeys> {
    return await this.#keyDesk.all();
  }

  async tokens(): Promise<TokenView[]> {
    return this.#tokens.list();
  }

  async makeToken(token: NewToken): Promise<TokenView | undefined> {
    return this.#tokens.make(token, Date.now());
  }

  async revokeToken(id: string, withMade: boolean): Promise<TokenView[]> {
    return this.#tokens.revoke(id, withMade);
  }

  async useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined> {
    return this.#isBlank ? undefined : this.#tokens.use(by, this.ctx.id.name ?? "", Date.now());
  }

  get #tokens(): HomeTokens {
    return new HomeTokens(this.#home.ctx.storage);
  }

  async makeDeviceCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined> {
    return await this.#pairingDesk.make(wanted);
  }

  async deviceCode(end: string): Promise<CodeState & { online?: boolean }> {
    return this.#pairingDesk.stateOf(end);
  }

  async pairDevice(body: PairBody, end: string): Promise<PairResult> {
    return this.#isBlank ? { ok: false, problem: "wrong_code" } : await this.#pairingDesk.pair(body, end);
  }

  async signManifest(named: string, body: string): Promise<string | undefined> {
    return this.#isBlank ? undefined : await this.#home.gatewayKey.sealManifest(named, body);
  }

  async updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined> {
    return this.#home.bridge.askUpdate(id, Date.now());
  }

  async record(callId: string, line: AuditLine): Promise<void> {
    this.#home.audit.add(GATEWAY_AGENT, callId, [line]);
  }

  async audit(query: AuditQuery): Promise<AuditLine[]> {
    return this.#home.audit.find(query);
  }

  async auditPage(after: number, filter: AuditFilter): Promise<AuditPage> {
    return this.#home.audit.page(after, filter);
  }

  async status(): Promise<HomeStatus> {
    return statusOf(this.#home, this.#dispatcher.served);
  }

  /** Only the Worker gets here. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/bridge") {
      const token = request.headers.get("x-edgecall-token");
      const refused = token === null ? undefined : await this.#refusedBridge(token);
      if (refused) return refused;
      // A bridge that was replaced waits for its place, and does not take it.
      if (request.headers.has(STANDBY) && this.#home.bridge.current(Date.now()))
        return Response.json(errorBody("another_bridge", "another bridge of this home is connected"), {
          status: 409,
        });
      const response = this.#home.bridge.accept(request.headers, Date.now());
      await this.#dispatcher.arm();
      return response;
    }
    if (url.pathname === "/questions") return acceptQuestionWatcher(this.ctx);
    const call = this.#home.ledger.get(url.searchParams.get("call") ?? "");
    if (!call) return new Response("no such call", { status: 404 });
    return acceptWatcher(this.ctx, call, url.searchParams.has("live") && this.#asking.openOf(call.id));
  }

  async #refusedBridge(token: string): Promise<Response | undefined> {
    return this.#isBlank ? refusedBridge("unsigned") : await this.#keyDesk.refusedBridge(token);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#home.bridge.isBridge(socket)) await this.#desk.onMessage(socket, message);
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    closeQuietly(socket, "bye");
    this.#desk.onClose();
  }

  /** A protocol error or a broken line: the platform then calls this in place of `webSocketClose`. */
  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    await dropStaleImport(this.ctx);
    // Only an import was staged here.
    if (this.#isBlank) return;
    try {
      await this.#asking.tend();
      this.#outlet.tend(Date.now());
    } finally {
      await this.#dispatcher.tend();
    }
  }
}

/** The parts of a home, over its tables. */
type HomeParts = {
  home: HomeContext;
  dispatcher: Dispatcher;
  asking: Asking;
  intake: Intake;
  desk: BridgeDesk;
  outlet: AuditOutlet;
  spending: Spending;
  pairings: Pairings;
  connections: KeptConnections;
  conversations: ConversationList;
  keyDesk: KeyDesk;
  pairingDesk: PairingDesk;
  plan(): Plan;
};

function homeParts(ctx: DurableObjectState, env: Env): HomeParts {
  migrate(ctx.storage, HOME_MIGRATIONS);
  const bridge = new BridgeSocket(ctx);
  const agents = new Agents(ctx.storage, () => bridge.vouchedAt());
  const home: HomeContext = {
    ctx,
    env,
    bridge,
    agents,
    keys: new AgentKeys(ctx.storage),
    gatewayKey: new GatewayKey(ctx.storage),
    ledger: new Ledger(ctx.storage),
    audit: new Audit(ctx.storage, env),
    questions: new Questions(ctx.storage, () => tellQuestionsChanged(ctx)),
    tallies: new Tallies(ctx.storage, (agent, tool) => {
      const tools = agent === GATEWAY_TOOLS ? undefined : agents.toolNames(agent);
      if (agent === GATEWAY_TOOLS) return "both";
      if (!tools || !dispatcher.served({ id: agent })) return "none";
      return tools.has(tool) || AGENT_COMMANDS.has(tool) ? "both" : "agent";
    }),
    toBackUp: new BackupList(ctx.storage),
  };
  const dispatcher = new Dispatcher(home);
  const asking = new Asking(home, dispatcher);
  const outlet = new AuditOutlet(home, dispatcher);
  const spending = new Spending(ctx.storage);
  const plan = (): Plan => {
    const now = Date.now();
    const heard = home.bridge.heardAt(now);
    const { spent, told } = spending.today(now);
    const agents = home.agents.roster(heard, dispatcher.served);
    return { roster: { bridgeOnline: heard !== null, agents }, health: spending.health(), day: spent, told };
  };
  dispatcher.planWith(plan);
  const keyDesk = new KeyDesk(home, dispatcher, asking);
  return {
    home,
    dispatcher,
    asking,
    outlet,
    spending,
    keyDesk,
    plan,
    intake: new Intake(home, dispatcher, asking),
    desk: new BridgeDesk(home, dispatcher, asking),
    pairings: new Pairings(ctx.storage),
    conversations: new ConversationList(ctx.storage),
    connections: new KeptConnections(ctx.storage, () => ctx.id.name ?? "", env.CONNECTIONS_KEY),
    pairingDesk: new PairingDesk(
      new DeviceCodes(ctx.storage),
      keyDesk,
      (agent) => plan().roster.agents.find(({ id }) => id === agent)?.online === true,
    ),
  };
}
