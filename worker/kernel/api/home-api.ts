/** The parts of a home's object that the rest of the Worker calls. */

import type { AuditApi } from "../../features/audit/audit-api.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../../features/backup/contract.ts";
import type { ChatApi } from "../../features/chat/chat-api.ts";
import type { DevicesApi } from "../../features/devices/devices-api.ts";
import type { LendingApi } from "../../features/lending/lending-api.ts";
import type { OauthApi } from "../../features/oauth/oauth-api.ts";
import type { PairingApi } from "../../features/pairing/pairing-api.ts";
import type { PushApi } from "../../features/push/push-api.ts";
import type { RelayApi } from "../../features/relay/relay-api.ts";
import type { RulesApi } from "../../features/rules/rules-api.ts";
import type { UpdatesApi } from "../../features/updates/updates-api.ts";
import type { UsageApi } from "../../features/usage/usage-api.ts";
import type { AgentsApi } from "./agents-api.ts";
import type { HomeStatus } from "./answers.ts";
import type { CallsApi } from "./calls-api.ts";
import type { ConversationsApi } from "./conversations-api.ts";
import type { FilesApi } from "./files-api.ts";
import type { QuestionsApi } from "./questions-api.ts";
import type { TokensApi } from "./tokens-api.ts";

export interface HomeApi {
  readonly calls: CallsApi;
  readonly questions: QuestionsApi;
  readonly rules: RulesApi;
  readonly push: PushApi;
  readonly lending: LendingApi;
  readonly agents: AgentsApi;
  readonly devices: DevicesApi;
  readonly files: FilesApi;
  readonly pairing: PairingApi;
  readonly updates: UpdatesApi;
  readonly conversations: ConversationsApi;
  readonly usage: UsageApi;
  readonly relay: RelayApi;
  readonly chat: ChatApi;
  readonly tokens: TokensApi;
  readonly oauth: OauthApi;
  readonly audit: AuditApi;
  /** Names of the conversations that belong into a back-up. */
  namesToBackUp(): Promise<string[]>;
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
  status(): Promise<HomeStatus>;
  /** Sockets. `/bridge`: the bridge's. `/wait?call=`: gets a command's outcome. `/questions`: hears when the open questions change. */
  fetch(request: Request): Promise<Response>;
}

/** The object's own methods have dotted names. */
type Dotted<Topics> = Joined<
  {
    [T in keyof Topics & string]: {
      [M in keyof Topics[T] & string as `${T}.${M}`]: Topics[T][M];
    };
  }[keyof Topics & string]
>;
type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

type Whole = "backup" | "fetch" | "namesToBackUp" | "restore" | "status";

export type HomeMethods = Dotted<Omit<HomeApi, Whole>>;
