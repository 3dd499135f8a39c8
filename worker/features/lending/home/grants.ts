/** The owner's operations: lend, borrow, take a grant back, and return one. */

import { sha256Hex, toBase64Url } from "@edgecall/core/encoding.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { LendingView } from "../../../kernel/api/answers.ts";
import type { SettledOutcome } from "../../../kernel/api/calls.ts";
import { gatewayKeyOf } from "../../../kernel/home/agents/gateway-key.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { sendCancel } from "../../../kernel/home/calls/commands.ts";
import { settleByGateway } from "../../../kernel/home/calls/outcome-delivery.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import type { LedgerCall } from "../../../kernel/home/ledger/ledger.ts";
import { ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { closeQuestions } from "../../../kernel/home/questions/approvals.ts";
import {
  type BorrowInto,
  type Borrowing,
  type Invitation,
  isOtherHomeUrl,
  type Lending,
  LentAgents,
  type NewLending,
  type Refused,
} from "../contract.ts";
import { auditGrant } from "./audit-grant.ts";
import { borrowedView, borrowingsOf } from "./borrowing-store.ts";
import { grantsOf, lentView } from "./grant-store.ts";
import { requestOfHome } from "./request.ts";

/** 128 bits. */
const SECRET_BYTES = 16;

export function lendingView(home: HomeContext): LendingView {
  const lent = grantsOf(home);
  const borrowed = borrowingsOf(home);
  const now = Date.now();
  const usedAt = ledgerOf(home).usedByGrant();
  return {
    lent: lent.list().map((grant) => lentView(grant, usedAt.get(grant.id) ?? null, now)),
    borrowed: borrowed.list().map(borrowedView),
  };
}

/** @param by the owner @param url the gateway's own origin */
export async function lend(
  home: HomeContext,
  lending: NewLending,
  by: string,
  url: string,
): Promise<Lending> {
  const unknown = lending.agents.find((id) => !servedAgentsOf(home).has(id));
  if (unknown !== undefined) return refused(404, "not_found", `agents: there is no agent '${unknown}'`);
  const secret = toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const hash = await sha256Hex(secret);
  const key = await gatewayKeyOf(home).publicKey();
  const now = Date.now();
  const grant = grantsOf(home).make(lending, by, hash, now);
  if (!grant)
    return refused(
      409,
      "conflict",
      "label: it is in use, or this home lends too much; take a grant back first",
    );
  const { label, agents, scopes, readsOnly, expiresAt } = grant;
  const terms = {
    label,
    agents,
    scopes,
    reads_only: readsOnly,
    expires_at: new Date(expiresAt).toISOString(),
  };
  auditGrant(home, "lend", by, { state: "offered", ...terms });
  const invitation = { url, home: home.name, grant: grant.id, key, secret };
  return { ok: true, lent: lentView(grant, null, now), invitation };
}

/** From here on every request under the grant is refused. Its open calls are ended, and the borrower gets their outcomes. */
export async function takeBack(home: HomeContext, id: string, by: string): Promise<boolean> {
  const grant = grantsOf(home).get(id);
  if (!grant || !grantsOf(home).revoke(id, Date.now())) return false;
  auditGrant(home, "lend", by, { state: "revoked", label: grant.label });
  const calls = ledgerOf(home)
    .open()
    .filter(({ asker }) => asker?.by === "home" && asker.grant === id);
  await endAll(home, calls, "The lender took the grant back");
  return true;
}

export async function borrow(
  home: HomeContext,
  { url, home: lender, grant, key: lenderKey, secret }: Invitation,
  { name, by, ownUrl, isHere }: BorrowInto,
): Promise<Borrowing> {
  const borrowed = borrowingsOf(home);
  const key = await gatewayKeyOf(home).publicKey();
  if (key === lenderKey) return refused(400, "invalid_body", "invitation: it is this home's own");
  if (!isHere && !isOtherHomeUrl(url, isLoopback(ownUrl)))
    return refused(400, "invalid_body", "invitation: its address is not a public https address");
  const known = borrowed.get(name);
  if (known ? known.grant !== grant : borrowed.isFull || borrowed.byGrant(grant))
    return refused(409, "conflict", "name: it is in use, or this is borrowed already, or too much is");
  const address = isHere ? "" : url;
  const other = { grant, from: "borrower", url: address, home: lender } as const;
  const body = { secret, key, url: isHere ? "" : ownUrl, home: home.name };
  const reply = await requestOfHome(home, other, "take", body);
  if (reply?.status === 401)
    return refused(409, "not_lent", "invitation: it is wrong, used, taken back or older than a day");
  const granted = reply?.status === 200 ? check(LentAgents, reply.body) : undefined;
  if (!granted?.ok) return refused(502, "lender_unreachable", "the lender's gateway gave no answer to use");
  const added = borrowed.add(
    { name, grant, url: address, home: lender, lenderKey, by },
    granted.value,
    Date.now(),
  );
  auditGrant(home, "borrow", by, { state: "borrowed", name, agents: added.agents.map(({ id }) => id) });
  return { ok: true, borrowed: borrowedView(added) };
}

/** Its agents are gone from here on, and its open calls are ended at the lender. */
export async function giveBack(home: HomeContext, name: string, by: string): Promise<boolean> {
  if (!borrowingsOf(home).get(name)) return false;
  const open = () =>
    ledgerOf(home)
      .openAtLenders()
      .filter(({ agent }) => agent.startsWith(`${name}/`));
  // A model whose call is ended may call again at once. After the last look nothing is awaited.
  for (let calls = open(); calls.length > 0; calls = open())
    await endAll(home, calls, "What was borrowed was given back");
  borrowingsOf(home).remove(name);
  auditGrant(home, "borrow", by, { state: "returned", name });
  return true;
}

async function endAll(home: HomeContext, calls: readonly LedgerCall[], why: string): Promise<void> {
  const now = Date.now();
  for (const { id } of calls) {
    const call = ledgerOf(home).get(id);
    if (!call || call.outcome) continue;
    const wasSent = call.state === "sent" || call.state === "taken";
    const outcome: SettledOutcome = {
      status: "error",
      errorType: wasSent ? "outcome_unknown" : "permission_denied",
      text: `Error: ${why}${wasSent ? " while it ran: it may or may not have run." : ". Nothing was run."}`,
      advice: "Explain this to the user.",
      elapsedMs: now - call.createdAt,
      sources: [],
    };
    await settleByGateway(home, call, outcome);
    if (wasSent) await sendCancel(home, call);
    await closeQuestions(home, id);
  }
}

function refused(status: Refused["status"], code: string, message: string): Refused {
  return { ok: false, status, code, message };
}
