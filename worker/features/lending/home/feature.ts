/** What lending adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { borrowingsOf } from "./borrowing-store.ts";
import { grantsOf, isOpen } from "./grant-store.ts";
import { nextDue, onAlarm, refreshBorrowed } from "./lender-calls.ts";
import { answerBorrower, cancelAtLender } from "./outgoing.ts";
import { notifyBorrower } from "./progress.ts";
import { lendingRpc } from "./rpc.ts";

export const lending = {
  rpc: { lending: lendingRpc },
  alarm: { nextDue, onAlarm },
  prune: (home, now) => grantsOf(home).prune(now),
  on: { progress: notifyBorrower, turnPlanned: refreshBorrowed },
  elsewhere: { agents: borrowingsOf, cancel: cancelAtLender },
  answerHome: answerBorrower,
  claimsId: (home, id, now) =>
    grantsOf(home)
      .list()
      .some((grant) => grant.agents.includes(id) && isOpen(grant, now)),
} satisfies HomeFeature;
