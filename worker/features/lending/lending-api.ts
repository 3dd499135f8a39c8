/** Methods of a home about lending. */

import type { LendingView } from "../../kernel/api/answers.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type {
  BorrowInto,
  Borrowing,
  Invitation,
  Lending,
  LendingKind,
  LendingReply,
  NewLending,
} from "./contract.ts";

export interface LendingApi {
  /** Another home asks. @param token signed with its key @param body JSON */
  peer(kind: LendingKind, token: string, body: string): Promise<LendingReply>;
  /** The grants that this home lends and borrows. */
  view(): Promise<LendingView>;
  /** @param by the owner @param url the gateway's own origin */
  lend(lending: NewLending, by: string, url: string): Promise<Lending>;
  /** Ends a grant at once. @returns false: there is none that counts */
  takeBack(grant: string, by: string): Promise<boolean>;
  borrow(invitation: Invitation, into: BorrowInto): Promise<Borrowing>;
  /** An owner accepts the words of lent agents about themselves. */
  acceptLentWords(name: string): Promise<boolean>;
  giveBack(name: string, by: string): Promise<boolean>;
}

/** This home, as to lending. */
export const lendingAt = (env: Env, home: string): LendingApi => topicAt(env, home, "lending");
