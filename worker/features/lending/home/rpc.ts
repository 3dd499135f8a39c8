/** What the rest of the Worker asks a home about lending. */

import type { HomePart } from "../../../kernel/home/part.ts";
import { UNKNOWN_GRANT } from "../contract.ts";
import type { LendingApi } from "../lending-api.ts";
import { borrowingsOf } from "./borrowing-store.ts";
import { borrow, giveBack, lend, lendingView, takeBack } from "./grants.ts";
import { onRequest } from "./incoming.ts";

export const lendingRpc: HomePart<LendingApi> = {
  peer: async (at, kind, token, body) =>
    at.isBlank ? UNKNOWN_GRANT : await onRequest(at.home, kind, token, body),
  view: async ({ home }) => lendingView(home),
  lend: async ({ home }, lending, by, url) => await lend(home, lending, by, url),
  takeBack: async ({ home }, grant, by) => await takeBack(home, grant, by),
  borrow: async ({ home }, invitation, into) => await borrow(home, invitation, into),
  acceptLentWords: async ({ home }, name) => borrowingsOf(home).acceptTexts(name),
  giveBack: async ({ home }, name, by) => await giveBack(home, name, by),
};
