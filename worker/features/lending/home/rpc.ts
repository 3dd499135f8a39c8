/** What the rest of the Worker asks a home about lending. */

import { RpcTarget } from "cloudflare:workers";
import type { LendingView } from "../../../kernel/api/answers.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import {
  type BorrowInto,
  type Borrowing,
  type Invitation,
  type Lending,
  type NewLending,
  type PeerKind,
  type PeerReply,
  UNKNOWN_PEER,
} from "../contract.ts";
import type { LendingApi } from "../lending-api.ts";
import { borrowedOf } from "./borrowed.ts";
import { borrow, giveBack, lend, lendingView, takeBack } from "./grants.ts";
import { onPeer } from "./incoming.ts";

export class LendingRpc extends RpcTarget implements LendingApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async peer(kind: PeerKind, token: string, body: string): Promise<PeerReply> {
    return this.#at.isBlank ? UNKNOWN_PEER : await onPeer(this.#at.home, kind, token, body);
  }

  async lending(): Promise<LendingView> {
    return lendingView(this.#at.home);
  }

  async lend(lending: NewLending, by: string, url: string): Promise<Lending> {
    return await lend(this.#at.home, lending, by, url);
  }

  async takeBack(grant: string, by: string): Promise<boolean> {
    return await takeBack(this.#at.home, grant, by);
  }

  async borrow(invitation: Invitation, into: BorrowInto): Promise<Borrowing> {
    return await borrow(this.#at.home, invitation, into);
  }

  async acceptLentWords(name: string): Promise<boolean> {
    return borrowedOf(this.#at.home).acceptWords(name);
  }

  async giveBack(name: string, by: string): Promise<boolean> {
    return await giveBack(this.#at.home, name, by);
  }
}
