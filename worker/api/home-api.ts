/** What may be asked of a home: the methods of its object that the rest of the Worker calls. */
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import type { Connection, Role } from "../settings/channels.ts";
import type { ApiToken } from "../settings/tokens.ts";
import type { AgentView, HomeStatus, TokenView } from "./answers.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "./audit.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "./backup.ts";
import type { CommandRequest, SettledOutcome, SubmitReply, SubmitRequest } from "./calls.ts";
import type { ListedConversation, Listing, ListQuery } from "./conversation-list.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "./device-codes.ts";
import type { CallTarget } from "./edge-call.ts";
import type { Enrolled, HomeKeys, KeyGrant, NewKey, Removed } from "./keys.ts";
import type { Viewer } from "./may-see.ts";
import type { Plan } from "./plan.ts";
import type { AnswerResult, Question } from "./questions.ts";
import type {
  AdmittedSender,
  Knock,
  PairingRequest,
  SenderKey,
  StoredConnection,
  Stranger,
} from "./senders.ts";
import type { NewToken } from "./tokens.ts";
import type { Admission, DayUsage, ModelUsage, ReportedTurn } from "./usage.ts";

export interface HomeApi {
  /**
   * What a model call needs to know: who is there, which models are well, what the day took so far.
   * @param reserve tokens to count for the day beforehand; absent = days are not counted
   * @param began a turn of a conversation that is to be found again
   */
  plan(reserve: number | undefined, began?: Listing): Promise<Plan>;
  /** Whether the key that signed this is on record for the agent, and was not revoked. */
  knowsKeyOf(token: RelayToken): Promise<boolean>;
  /** A device asks for the gateway's model. @param reserve tokens that the call may take */
  admitToRelay(token: RelayToken, reserve: number): Promise<Admission>;
  /** What it took. @param usage absent: the endpoint told none, and what was reserved stands */
  relayed(agent: string, reserved: number, model: string, usage: Usage | undefined): Promise<void>;
  /** A call took so much more (or less) than was reserved for it. */
  spent(difference: number, priced?: ModelUsage): Promise<void>;
  /** What the last days took, the oldest first. */
  usage(days: number): Promise<DayUsage[]>;
  conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]>;
  /** @returns as it is kept; undefined: it is not listed */
  renameConversation(name: string, title: string): Promise<string | undefined>;
  /** Principals with whom a conversation was shared by name. */
  sharedWith(name: string): Promise<string[]>;
  /** @returns false: the home shares too much already */
  shareConversation(name: string, principals: string[]): Promise<boolean>;
  forgetConversation(name: string): Promise<void>;
  budgetTold(keys: BudgetKey[]): Promise<void>;
  modelFailed(name: string, times: number): Promise<void>;
  modelAnswered(name: string): Promise<void>;
  /** A turn of one of this home's conversations has ended: it is counted. */
  turnEnded(turn: ReportedTurn): Promise<void>;
  /** Names of the conversations that a back-up holds. */
  toBackUp(): Promise<string[]>;
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
  /** The page for Prometheus. */
  metrics(): Promise<string>;
  /** Takes a call of `edge_call`, once for each id. */
  submit(request: SubmitRequest): Promise<SubmitReply>;
  /** One command to one agent, from the API; its report comes over `/wait?call=`. */
  command(request: CommandRequest): Promise<SubmitReply>;
  /** Tells the devices to stop. @returns those that were sent: what they did is unknown */
  cancel(ids: string[], conversation: string): Promise<string[]>;
  /** Somebody began to watch. */
  watch(ids: string[]): Promise<void>;
  /** @param isThere they read the chat that the question stands in: the platform says so */
  answer(id: string, answer: string, viewer: Viewer, isThere?: boolean): Promise<AnswerResult>;
  /** Those that are open, as far as this caller may see them. `title`: of the conversation, where it is listed. */
  questions(viewer: Viewer): Promise<Array<Question & { title?: string }>>;
  /** All agents with the schemas of their actions. */
  targets(): Promise<CallTarget[]>;
  agents(): Promise<AgentView[]>;
  /** An owner accepts the words by which an agent describes itself. @param line as it was shown */
  acceptText(agent: string, line: string | undefined): Promise<"accepted" | "changed" | "unknown">;
  /** A command's outcome, or undefined: no such command, as far as this caller may see. `null` = still running. */
  outcome(agent: string, id: string, viewer: Viewer): Promise<SettledOutcome | null | undefined>;
  /** A sender of a chat app whom the settings do not name. @returns a stranger's code, unless it was told just now */
  admit(stranger: Stranger, mayKnock: boolean): Promise<{ role: Role } | { knock: Knock | undefined }>;
  pairings(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }>;
  /** @returns undefined: there is no such code */
  approvePairing(code: string, role: Role, by: string): Promise<AdmittedSender | undefined>;
  dismissPairing(code: string): Promise<boolean>;
  removeSender(sender: SenderKey): Promise<boolean>;
  /** A connection that was made in the console, with its secrets; undefined: there is none of this name. */
  connection(channel: string, name: string): Promise<Parsed<Connection> | undefined>;
  connections(): Promise<StoredConnection[]>;
  /** @returns false: there are too many */
  storeConnection(connection: Connection, by: string): Promise<boolean>;
  removeConnection(channel: string, name: string): Promise<boolean>;
  /**
   * Puts a device's public key on record: from here on nothing of this agent is believed without its signature.
   * Pairing calls this too, with `{by: "pairing"}`.
   * @returns the key that the device has to obey, or what speaks against it
   */
  enrollAgent(key: NewKey, grant: KeyGrant): Promise<Enrolled>;
  /** Nothing of this agent is believed any more, and nothing is sent to it. @returns false: there was no key */
  revokeAgentKey(agent: string): Promise<boolean>;
  /** A device that is gone is no longer listed. */
  removeAgent(agent: string): Promise<Removed>;
  keys(): Promise<HomeKeys>;
  tokens(): Promise<TokenView[]>;
  /** @returns undefined: there are too many */
  makeToken(token: NewToken): Promise<TokenView | undefined>;
  revokeToken(id: string, withMade: boolean): Promise<TokenView[]>;
  /** The record of a token that counts now, by its hash or its id. */
  useToken(by: { hash: string } | { id: string }): Promise<ApiToken | undefined>;
  /** @returns undefined: too many codes are open */
  makeDeviceCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined>;
  deviceCode(end: string): Promise<CodeState & { online?: boolean }>;
  pairDevice(body: PairBody, end: string): Promise<PairResult>;
  /** A device that obeys this key asks for the program. @returns undefined: the key is not this home's */
  signManifest(named: string, body: string): Promise<string | undefined>;
  /** Tells the bridge to update itself. @returns why it was not told */
  updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined>;
  /** A call of a tool of the gateway's own; again under the same name, it takes the place of itself. */
  record(callId: string, line: AuditLine): Promise<void>;
  /** Lines of the record, the newest first. */
  audit(query: AuditQuery): Promise<AuditLine[]>;
  /** The record in the order in which it came. @param after 0, or that of the page before */
  auditPage(after: number, filter: AuditFilter): Promise<AuditPage>;
  status(): Promise<HomeStatus>;
  /** `/bridge`: the bridge's socket. `/wait?call=`: a command's waiting room. `/questions`: word of other open ones. */
  fetch(request: Request): Promise<Response>;
}
