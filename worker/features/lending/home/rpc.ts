/** What the rest of the Worker asks a home about lending. */

import type { LendingView } from "../../../kernel/api/answers.ts";
import { HomePart } from "../../../kernel/home/part.ts";
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

export class LendingRpc extends HomePart implements LendingApi {
  async peer(kind: PeerKind, token: string, body: string): Promise<PeerReply> {
    return this.isBlank ? UNKNOWN_PEER : await onPeer(this.home, kind, token, body);
  }

  async view(): Promise<LendingView> {
    return lendingView(this.home);
  }

  async lend(lending: NewLending, by: string, url: string): Promise<Lending> {
    return await lend(this.home, lending, by, url);
  }

  async takeBack(grant: string, by: string): Promise<boolean> {
    return await takeBack(this.home, grant, by);
  }

  async borrow(invitation: Invitation, into: BorrowInto): Promise<Borrowing> {
    return await borrow(this.home, invitation, into);
  }

  async acceptLentWords(name: string): Promise<boolean> {
    return borrowedOf(this.home).acceptWords(name);
  }

  async giveBack(name: string, by: string): Promise<boolean> {
    return await giveBack(this.home, name, by);
  }
}
