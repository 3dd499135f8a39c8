/** The methods of a home's object that the rest of the Worker calls. */
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { Outcome, Usage } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import type { Connection, Role } from "../../features/chat/settings.ts";
import type { ApiToken } from "../settings/tokens.ts";
import type { AgentListQuery, AgentPage } from "./agent-list.ts";
import type {
  AgentView,
  DeviceList,
  DeviceView,
  HomeStatus,
  LendingView,
  OauthClientView,
  OauthGrantView,
  TokenView,
} from "./answers.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "./audit.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../../features/backup/contract.ts";
import type { CancelledCall, CommandRequest, SettledOutcome, SubmitReply, SubmitRequest } from "./calls.ts";
import type { ClockBody, ClockView } from "../../features/rules/clock-contract.ts";
import type { ListedConversation, Listing, ListQuery } from "./conversation-list.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "../../features/pairing/contract.ts";
import type { DeviceBody, Person } from "./devices.ts";
import type { CallTarget } from "./edge-call.ts";
import type { FileQuery, ListedFile, NewFiles } from "./files.ts";
import type { FindQuery, FoundWords } from "./find-agents.ts";
import type { HomeToolReply, HomeToolRequest } from "./home-tools.ts";
import type { Enrolled, HomeKeys, KeyGrant, NewKey, Readmitted, Removed } from "./keys.ts";
import type { Viewer } from "./may-see.ts";
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
import type { BorrowInto, Borrowing, Invitation, Lending, NewLending, PeerKind, PeerReply } from "../../features/lending/contract.ts";
import type { Plan } from "./plan.ts";
import type { NewOutlet, OutletView, PressClaims, PushView } from "../../features/push/contract.ts";
import type { AnswerResult, OpenQuestions } from "./questions.ts";
import type { HomeCounts, RosterQuestion } from "./roster.ts";
import type { LostNotice, Pressed, RuleBody, RuleChanged, RuleList, RulePress } from "../../features/rules/contract.ts";
import type {
  AdmittedSender,
  Knock,
  PairingRequest,
  SenderKey,
  StoredConnection,
  Stranger,
} from "../../features/chat/sender-contract.ts";
import type { NewToken } from "./tokens.ts";
import type { Admission, DayUsage, ModelUsage, ReportedTurn } from "../../features/usage/contract.ts";

export type Targets = { agents: CallTarget[]; excerptOf?: HomeCounts };

export interface HomeApi {
  /**
   * What the model calls of a turn need to know: the roster, which models are healthy, and what the day took so far.
   * @param reserve tokens to count for the day beforehand; absent: days are not counted
   * @param began the conversation whose turn began, if it is to be listed
   * @param question absent: a large home's roster names no agent
   */
  plan(reserve: number | undefined, began?: Listing, question?: RosterQuestion): Promise<Plan>;
  /** True if the agent's present key signed this token. */
  isRelayToken(token: RelayToken): Promise<boolean>;
  /** A device asks for the gateway's model. @param reserve tokens that the call may take */
  admitToRelay(token: RelayToken, reserve: number): Promise<Admission>;
  /** Counts what an admitted call took. @param usage absent: the endpoint reported none, and the reservation stays */
  countRelayed(agent: string, reserved: number, model: string, usage: Usage | undefined): Promise<void>;
  /** A model call took so much more (or less) than was reserved for it. */
  correctSpending(difference: number, priced?: ModelUsage): Promise<void>;
  /** What the last days used, the oldest first. */
  usage(days: number): Promise<DayUsage[]>;
  conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]>;
  /** @returns the title as it is stored; undefined: the conversation is not listed */
  renameConversation(name: string, title: string): Promise<string | undefined>;
  /** Principals with whom a conversation was shared by name. */
  sharedWith(name: string): Promise<string[]>;
  /** @returns false: the home shares too much already */
  shareConversation(name: string, principals: string[]): Promise<boolean>;
  forgetConversation(name: string): Promise<void>;
  /** A conversation has files of devices. The same again changes nothing. */
  addFiles(added: NewFiles): Promise<void>;
  /** The files of devices that the caller may see, the newest first. */
  files(viewer: Viewer, query: FileQuery): Promise<ListedFile[]>;
  /** A listed file is not there any more. */
  removeFile(id: string): Promise<void>;
  setBudgetTold(keys: BudgetKey[]): Promise<void>;
  modelFailed(name: string, times: number): Promise<void>;
  modelAnswered(name: string): Promise<void>;
  /** A model's endpoint refused something, and took another form. @param source address and model @param dropped forms that it takes no more */
  modelLearned(source: string, habits: string[], dropped: string[]): Promise<void>;
  /** Counts a turn of one of this home's conversations. @param confirmed as with `submit` */
  turnEnded(turn: ReportedTurn, confirmed: readonly string[]): Promise<void>;
  /** Names of the conversations that belong into a back-up. */
  namesToBackUp(): Promise<string[]>;
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
  /** The page for Prometheus. */
  metrics(): Promise<string>;
  /** Takes a call of `edge_call`, once for each id. */
  submit(request: SubmitRequest): Promise<SubmitReply>;
  /** Runs a tool of the home, once for each id. */
  runTool(request: HomeToolRequest): Promise<HomeToolReply>;
  /** A person pressed a button of a rule. */
  pressRule(press: RulePress): Promise<Pressed>;
  /** A conversation could not tell what a rule said. The same again changes nothing. */
  noticeLost(lost: LostNotice): Promise<void>;
  rules(viewer: Viewer): Promise<RuleList>;
  clock(): Promise<ClockView>;
  /** @param by the owner @returns the error names the field */
  changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>>;
  changeRule(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged>;
  /** @returns false: this person has no such rule */
  removeRule(id: string, viewer: Viewer): Promise<boolean>;
  /** The link of a button, which counts once. @returns undefined: it was used, or its topic was removed */
  pressLink(claims: PressClaims): Promise<Pressed | undefined>;
  /** The key of the home for push services, and where this person is told what rules say. */
  push(principal: string): Promise<PushView>;
  /** @returns undefined: there are too many */
  addOutlet(outlet: NewOutlet): Promise<OutletView | undefined>;
  /** @returns false: this person has no such one */
  removeOutlet(id: string, principal: string): Promise<boolean>;
  /** A session has ended that a device began. @returns true: the device waited, and gets the outcome */
  sessionEnded(callId: string, outcome: Outcome): Promise<boolean>;
  /** Another home asks. @param token signed with its key @param body JSON */
  peer(kind: PeerKind, token: string, body: string): Promise<PeerReply>;
  /** The grants that this home lends and borrows. */
  lending(): Promise<LendingView>;
  /** @param by the owner @param url the gateway's own origin */
  lend(lending: NewLending, by: string, url: string): Promise<Lending>;
  /** Ends a grant at once. @returns false: there is none that counts */
  takeBack(grant: string, by: string): Promise<boolean>;
  borrow(invitation: Invitation, into: BorrowInto): Promise<Borrowing>;
  /** An owner accepts the words of lent agents about themselves. */
  acceptLentWords(name: string): Promise<boolean>;
  giveBack(name: string, by: string): Promise<boolean>;
  /** Takes one command to one agent, from the API. Its report comes over `/wait?call=`. */
  command(request: CommandRequest): Promise<SubmitReply>;
  /** Tells the devices to stop. @returns the calls that were sent: what they did is unknown */
  cancel(calls: CancelledCall[], conversation: string): Promise<string[]>;
  /** Somebody watches these calls from now on. */
  watch(ids: string[]): Promise<void>;
  /** @param isThere the person reads the chat that shows the question, as the platform vouches */
  answer(id: string, answer: string, viewer: Viewer, isThere?: boolean): Promise<AnswerResult>;
  /** The oldest open questions that this caller may see. */
  questions(viewer: Viewer, limit: number): Promise<OpenQuestions>;
  /** Finds agents by a person's words. @param reach the only agents that the caller may reach; absent: all */
  findAgents(query: FindQuery, reach?: readonly string[]): Promise<FoundWords>;
  /** One agent with the schemas of its actions. */
  target(agent: string): Promise<CallTarget | undefined>;
  /** All agents with the schemas of their actions; of a large home only how many there are. */
  targets(): Promise<Targets>;
  /** @returns undefined: `after` is no place in this list any more */
  agents(query: AgentListQuery): Promise<AgentPage | undefined>;
  agent(id: string): Promise<AgentView | undefined>;
  /** An owner accepts the words by which an agent describes itself. @param line as the owner read it */
  acceptText(agent: string, line: string | undefined): Promise<"accepted" | "changed" | "unknown">;
  /** The hosted devices with what they report, in the order of their ids. @param all also readings that are diagnostic or settings */
  devices(all: boolean): Promise<DeviceList>;
  /** @returns `changed`: the device is not what the person saw */
  changeDevice(id: string, change: DeviceBody, by: Person): Promise<DeviceView | "changed" | "unknown">;
  /** People's decisions about the device are deleted, and the bridge's memory of it. */
  forgetDevice(id: string, by: Person): Promise<"forgotten" | "online" | "no_bridge" | "unknown">;
  /** A command's outcome. Null: it is still running. Undefined: there is none that this caller may see. */
  outcome(agent: string, id: string, viewer: Viewer): Promise<SettledOutcome | null | undefined>;
  /** A sender of a chat app whom the settings do not name. @returns a stranger's code, unless the stranger got it just now */
  admit(stranger: Stranger, mayKnock: boolean): Promise<{ role: Role } | { knock: Knock | undefined }>;
  senders(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }>;
  /** @returns undefined: there is no such code */
  approveSender(code: string, role: Role, by: string): Promise<AdmittedSender | undefined>;
  dismissSender(code: string): Promise<boolean>;
  removeSender(sender: SenderKey): Promise<boolean>;
  /** A connection that was made in the console, with its secrets. Undefined: there is none of this name. */
  connection(channel: string, name: string): Promise<Parsed<Connection> | undefined>;
  connections(): Promise<StoredConnection[]>;
  /** @returns false: there are too many */
  storeConnection(connection: Connection, by: string): Promise<boolean>;
  removeConnection(channel: string, name: string): Promise<boolean>;
  /**
   * Puts a device's public key on record. From here on this agent is trusted by its signature alone.
   * @returns the gateway's key, which the device has to obey; or why the key was refused
   */
  enrollAgent(key: NewKey, grant: KeyGrant): Promise<Enrolled>;
  /** From here on this agent is not trusted, and nothing is sent to it. @returns false: there was no key */
  revokeAgentKey(agent: string): Promise<boolean>;
  /** Tells a paired device whose numbers are old with which ones it has to go on. */
  readmitAgent(agent: string): Promise<Readmitted>;
  /** Takes a device that is gone off the list. */
  removeAgent(agent: string): Promise<Removed>;
  keys(): Promise<HomeKeys>;
  /** The key that the home's devices obey. */
  publicKey(): Promise<string>;
  tokens(): Promise<TokenView[]>;
  /** @returns undefined: there are too many */
  makeToken(token: NewToken): Promise<TokenView | undefined>;
  revokeToken(id: string, withMade: boolean): Promise<TokenView[]>;
  /** The token of this hash or id, if it is valid now. */
  useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined>;
  /** A person allows a program to use the home. */
  consent(given: Consent): Promise<ConsentResult>;
  redeemCode(request: CodeRequest): Promise<TokenGrant>;
  /** @returns undefined: nothing was ever stored here */
  refreshGrant(request: RefreshRequest): Promise<TokenGrant | undefined>;
  /** @returns the rights that a grant has now; undefined: none */
  useGrant(id: string): Promise<ApiToken | undefined>;
  grants(): Promise<OauthGrantView[]>;
  /** @returns false: no such grant counts */
  endGrant(id: string, by: Pick<ApiToken, "name" | "role">): Promise<boolean>;
  /** A client gives its token back. @returns why it is refused; undefined also when there was nothing to revoke */
  revokeFor(grant: string, client: ClientProof): Promise<OauthRefusal | undefined>;
  /** The clients that people entered by hand. */
  oauthClients(): Promise<OauthClientView[]>;
  oauthClient(id: string): Promise<StoredClient | undefined>;
  /** @returns false: there are too many */
  makeOauthClient(client: NewOauthClient, by: string): Promise<boolean>;
  removeOauthClient(id: string): Promise<boolean>;
  /** The copy of a client's metadata document. */
  clientDocument(id: string): Promise<StoredDocument | undefined>;
  storeClientDocument(document: StoredDocument): Promise<void>;
  /** @returns undefined: too many codes are open */
  makeDeviceCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined>;
  deviceCode(end: string): Promise<CodeState & { online?: boolean }>;
  pairDevice(body: PairBody, end: string): Promise<PairResult>;
  /** Signs a manifest of the program. @param named the public key that the asking device obeys @returns undefined: the key is not this home's */
  signManifest(named: string, body: string): Promise<string | undefined>;
  /** Tells the bridge to update itself. @returns why not */
  updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined>;
  /** Records a call of the gateway's own tools. A line with the same id is replaced. */
  record(callId: string, line: AuditLine): Promise<void>;
  /** Lines of the record, the newest first. */
  audit(query: AuditQuery): Promise<AuditLine[]>;
  /** A page of the record, in the order in which it came. @param after that of the page before; 0: from the beginning */
  auditPage(after: number, filter: AuditFilter): Promise<AuditPage>;
  status(): Promise<HomeStatus>;
  /** Sockets. `/bridge`: the bridge's. `/wait?call=`: gets a command's outcome. `/questions`: hears when the open questions change. */
  fetch(request: Request): Promise<Response>;
}
