/** What the rest of the Worker asks a home about chat. */

import { RpcTarget } from "cloudflare:workers";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import type { ChatApi } from "../chat-api.ts";
import type {
  AdmittedSender,
  Knock,
  PairingRequest,
  SenderKey,
  StoredConnection,
  Stranger,
} from "../sender-contract.ts";
import type { Connection, Role } from "../settings.ts";
import { chatConnectionsOf } from "./channel-connections.ts";
import { sendersOf } from "./senders.ts";

export class ChatRpc extends RpcTarget implements ChatApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async admit(stranger: Stranger, mayKnock: boolean): Promise<{ role: Role } | { knock: Knock | undefined }> {
    const role = sendersOf(this.#at.home).roleOf(stranger);
    if (role) return { role };
    return { knock: mayKnock ? sendersOf(this.#at.home).knock(stranger, Date.now()) : undefined };
  }

  async senders(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }> {
    return {
      pairings: sendersOf(this.#at.home).requests(Date.now()),
      senders: sendersOf(this.#at.home).senders(),
    };
  }

  async approveSender(code: string, role: Role, by: string): Promise<AdmittedSender | undefined> {
    return sendersOf(this.#at.home).approve(code, role, by, Date.now());
  }

  async dismissSender(code: string): Promise<boolean> {
    return sendersOf(this.#at.home).dismiss(code);
  }

  async removeSender(sender: SenderKey): Promise<boolean> {
    return sendersOf(this.#at.home).remove(sender);
  }

  async connection(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    return this.#at.isBlank ? undefined : await chatConnectionsOf(this.#at.home).find(channel, name);
  }

  async connections(): Promise<StoredConnection[]> {
    return chatConnectionsOf(this.#at.home).list();
  }

  async storeConnection(connection: Connection, by: string): Promise<boolean> {
    return await chatConnectionsOf(this.#at.home).store(connection, by, Date.now());
  }

  async removeConnection(channel: string, name: string): Promise<boolean> {
    return chatConnectionsOf(this.#at.home).remove(channel, name);
  }
}
