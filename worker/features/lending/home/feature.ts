/** What lending adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { borrowingsOf } from "./borrowing-store.ts";
import { grantsOf, isGood, isOpen } from "./grant-store.ts";
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
  hasAsker(home, who) {
    const grant = "home" in who ? grantsOf(home).get(who.home) : undefined;
    return grant !== undefined && isGood(grant, Date.now());
  },
  claimsId: (home, id, now) =>
    grantsOf(home)
      .list()
      .some((grant) => grant.agents.includes(id) && isOpen(grant, now)),
} satisfies HomeFeature;
