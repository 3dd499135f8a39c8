/** The parts of a home's object that the rest of the Worker calls. A feature has its own (`topicAt`). */

import type { AgentsApi } from "./agents-api.ts";
import type { HomeStatus } from "./answers.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "./backup.ts";
import type { CallsApi } from "./calls-api.ts";
import type { ConversationsApi } from "./conversations-api.ts";
import type { FilesApi } from "./files-api.ts";
import type { ModelsApi } from "./models-api.ts";
import type { NoticesApi } from "./notices-api.ts";
import type { PasskeysApi } from "./passkeys-api.ts";
import type { PermissionsApi } from "./permissions-api.ts";
import type { QuestionsApi } from "./questions-api.ts";
import type { TokensApi } from "./tokens-api.ts";

export interface HomeApi {
  readonly calls: CallsApi;
  readonly questions: QuestionsApi;
  readonly agents: AgentsApi;
  readonly files: FilesApi;
  readonly conversations: ConversationsApi;
  readonly tokens: TokensApi;
  readonly notices: NoticesApi;
  readonly models: ModelsApi;
  readonly passkeys: PasskeysApi;
  readonly permissions: PermissionsApi;
  /** Names of the conversations that belong into a back-up. */
  namesToBackUp(): Promise<string[]>;
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
  status(): Promise<HomeStatus>;
  /** Sockets. `/bridge`: the bridge's. `/wait?call=`: gets a command's outcome. `/questions`: hears when the open questions change. */
  fetch(request: Request): Promise<Response>;
}

/** The object's own methods have dotted names. */
export type Dotted<Topics> = Joined<
  {
    [T in keyof Topics & string]: {
      [M in keyof Topics[T] & string as `${T}.${M}`]: Topics[T][M];
    };
  }[keyof Topics & string]
>;
export type Joined<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type Whole = "backup" | "fetch" | "namesToBackUp" | "restore" | "status";

export type HomeMethods = Dotted<Omit<HomeApi, Whole>>;
