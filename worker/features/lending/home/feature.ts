/** What lending adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { borrowedOf } from "./borrowed.ts";
import { nextDue, onAlarm, refreshBorrowed } from "./lender-calls.ts";
import { isOpen, lentOf } from "./lent.ts";
import { answerPeer, cancelAtLender } from "./outgoing.ts";
import { notifyBorrower } from "./progress.ts";
import { lendingRpc } from "./rpc.ts";

export const lending = {
  rpc: { lending: lendingRpc },
  alarm: { nextDue, onAlarm },
  prune: (home, now) => lentOf(home).prune(now),
  on: { progress: notifyBorrower, turnPlanned: refreshBorrowed },
  elsewhere: { agents: borrowedOf, cancel: cancelAtLender },
  answerHome: answerPeer,
  claimsId: (home, id, now) =>
    lentOf(home)
      .list()
      .some((grant) => grant.agents.includes(id) && isOpen(grant, now)),
} satisfies HomeFeature;
