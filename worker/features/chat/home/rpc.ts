/** What the rest of the Worker asks a home about chat. */
import { RpcTarget } from "cloudflare:workers";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { AdmittedSender, Knock, PairingRequest, SenderKey, StoredConnection, Stranger } from "../sender-contract.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import type { Connection, Role } from "../settings.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import type { ChatApi } from "../chat-api.ts";

export class ChatRpc extends RpcTarget implements ChatApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async admit(stranger: Stranger, mayKnock: boolean): Promise<{ role: Role } | { knock: Knock | undefined }> {
    const role = this.#at.home.senders.roleOf(stranger);
    if (role) return { role };
    return { knock: mayKnock ? this.#at.home.senders.knock(stranger, Date.now()) : undefined };
  }

  async senders(): Promise<{ pairings: PairingRequest[]; senders: AdmittedSender[] }> {
    return { pairings: this.#at.home.senders.requests(Date.now()), senders: this.#at.home.senders.senders() };
  }

  async approveSender(code: string, role: Role, by: string): Promise<AdmittedSender | undefined> {
    return this.#at.home.senders.approve(code, role, by, Date.now());
  }

  async dismissSender(code: string): Promise<boolean> {
    return this.#at.home.senders.dismiss(code);
  }

  async removeSender(sender: SenderKey): Promise<boolean> {
    return this.#at.home.senders.remove(sender);
  }

  async connection(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    return this.#at.isBlank ? undefined : await this.#at.home.connections.find(channel, name);
  }

  async connections(): Promise<StoredConnection[]> {
    return this.#at.home.connections.list();
  }

  async storeConnection(connection: Connection, by: string): Promise<boolean> {
    return await this.#at.home.connections.store(connection, by, Date.now());
  }

  async removeConnection(channel: string, name: string): Promise<boolean> {
    return this.#at.home.connections.remove(channel, name);
  }
}
