/** Methods of a home about chat. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type {
  AccessRequest,
  AdmittedSender,
  PairingRequest,
  SenderKey,
  StoredConnection,
  UnknownSender,
} from "../../kernel/api/senders.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { Connection, Role } from "../../kernel/settings/chat.ts";

export interface ChatApi {
  /** A sender of a chat app whom the settings do not name. @returns a stranger's code, unless the stranger got it just now */
  admit(
    stranger: UnknownSender,
    mayRequestAccess: boolean,
  ): Promise<{ role: Role } | { knock: AccessRequest | undefined }>;
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
}

/** This home, as to chat. */
export const chatAt = (env: Env, home: string): ChatApi => topicAt(env, home, "chat");
