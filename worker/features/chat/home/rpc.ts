/** What the rest of the Worker asks a home about chat. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type {
  AccessRequest,
  AdmittedSender,
  PairingRequest,
  SenderKey,
  StoredConnection,
  UnknownSender,
} from "../../../kernel/api/senders.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import { chatConnectionsOf } from "../../../kernel/home/people/channel-connections.ts";
import { sendersOf } from "../../../kernel/home/people/senders.ts";
import type { Connection, Role } from "../../../kernel/settings/chat.ts";
import type { ChatApi } from "../chat-api.ts";

export class ChatRpc extends HomePart implements ChatApi {
  async admit(
    stranger: UnknownSender,
    mayKnock: boolean,
  ): Promise<{ role: Role } | { knock: AccessRequest | undefined }> {
    const role = sendersOf(this.home).roleOf(stranger);
    if (role) return { role };
    return { knock: mayKnock ? sendersOf(this.home).requestAccess(stranger, Date.now()) : undefined };
  }

  async senders(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }> {
    return {
      pairings: sendersOf(this.home).requests(Date.now()),
      senders: sendersOf(this.home).senders(),
    };
  }

  async approveSender(code: string, role: Role, by: string): Promise<AdmittedSender | undefined> {
    return sendersOf(this.home).approve(code, role, by, Date.now());
  }

  async dismissSender(code: string): Promise<boolean> {
    return sendersOf(this.home).dismiss(code);
  }

  async removeSender(sender: SenderKey): Promise<boolean> {
    return sendersOf(this.home).remove(sender);
  }

  async connection(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    return this.isBlank ? undefined : await chatConnectionsOf(this.home).find(channel, name);
  }

  async connections(): Promise<StoredConnection[]> {
    return chatConnectionsOf(this.home).list();
  }

  async storeConnection(connection: Connection, by: string): Promise<boolean> {
    return await chatConnectionsOf(this.home).store(connection, by, Date.now());
  }

  async removeConnection(channel: string, name: string): Promise<boolean> {
    return chatConnectionsOf(this.home).remove(channel, name);
  }
}
