/**
 * Answers the requests of other homes. Whoever has no good grant gets one and the same answer, so that nobody learns which homes,
 * grants and calls there are. Everything is recognised by the id of its call, so a request may come twice.
 */

import { fromBase64Url, sha256Hex } from "@edgecall/core/encoding.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import {
  type LendingToken,
  lendingPlace,
  lendingTokenBytes,
  readLendingToken,
} from "@edgecall/core/protocol/lending-token.ts";
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import { importPublicKey } from "@edgecall/core/protocol/signing.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import { LENDING_CHANNEL } from "../../../kernel/api/agent-ids.ts";
import type { SettledOutcome } from "../../../kernel/api/calls.ts";
import { onlyReads } from "../../../kernel/api/edge-call.ts";
import { errorBody } from "../../../kernel/api/errors.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { cancelCalls } from "../../../kernel/home/calls/dispatch.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { closeQuestions } from "../../../kernel/home/questions/approvals.ts";
import { submit } from "../../../kernel/home/submit/submit.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import {
  AcceptGrant,
  CancelLentCall,
  isOtherHomeUrl,
  type LendingKind,
  type LendingReply,
  type LentAgents,
  LentCall,
  LentOutcome,
  LentProgress,
  type LentReport,
  UNKNOWN_GRANT,
} from "../contract.ts";
import { auditGrant } from "./audit-grant.ts";
import { borrowingsOf } from "./borrowing-store.ts";
import { type Grant, grantsOf, isGood } from "./grant-store.ts";
import { settleLent } from "./lender-calls.ts";
import { toBorrower } from "./outgoing.ts";
import { showNews } from "./progress.ts";
import { requestRatesOf } from "./request-rates.ts";

/** Calls of one grant that are open at once. */
const OPEN_MAX = 20;
/** The adverts of an answer, and then those without words and schemas, in characters: the answer stays below 256 KiB. */
const ADVERTS_MAX_CHARS = 120_000;
const NAMES_MAX_CHARS = 40_000;

/** @param token and body as they came; the route has compared the token's host with the gateway's own */
export async function onRequest(
  home: HomeContext,
  kind: LendingKind,
  token: string,
  body: string,
): Promise<LendingReply> {
  const read = await readLendingToken(token, body, Date.now());
  if (!read?.claims.for.endsWith(lendingPlace("", home.name, kind))) return UNKNOWN_GRANT;
  if (kind === "take") return await onAccept(home, read, body);
  if (kind === "outcome" || kind === "progress") return await onReport(home, kind, read, body);
  const grant = grantsOf(home).get(read.claims.grant);
  const isBorrower = grant?.borrower && (await isSignedBy(read, "borrower", grant.borrower.key));
  // Read again: it may have been taken back meanwhile.
  if (!isBorrower || !isGood(grantsOf(home).get(grant.id) ?? grant, Date.now())) return UNKNOWN_GRANT;
  if (!requestRatesOf(home).accept(grant.id, Date.now())) return TOO_MANY;
  if (kind === "agents") return { status: 200, body: grantedAgents(home, grant) };
  if (kind === "cancel")
    return await withBody(CancelLentCall, body, (cancel) => onCancel(home, grant, cancel.id));
  return await withBody(LentCall, body, (call) => onCall(home, grant, call));
}

const TOO_MANY: LendingReply = {
  status: 429,
  body: errorBody("rate_limited", "too many requests of this grant"),
};

async function isSignedBy(
  { claims, body, signature }: LendingToken,
  from: LendingToken["claims"]["from"],
  publicKey: string,
): Promise<boolean> {
  const key = claims.from === from ? await importPublicKey(publicKey) : undefined;
  if (!key) return false;
  return await crypto.subtle.verify("Ed25519", key, fromBase64Url(signature), lendingTokenBytes(body));
}

async function withBody<T>(
  schema: z.ZodMiniType<T>,
  body: string,
  then: (value: T) => Promise<LendingReply>,
): Promise<LendingReply> {
  const read = checkJson(schema, body);
  if (!read.ok) return { status: 400, body: errorBody("invalid_body", read.error) };
  return await then(read.value);
}

/** The borrower shows the invitation's secret, and from here on its key alone. The same borrower may ask again. */
async function onAccept(home: HomeContext, token: LendingToken, text: string): Promise<LendingReply> {
  const now = Date.now();
  const { grant: id, for: place } = token.claims;
  const body = checkJson(AcceptGrant, text);
  const grant = grantsOf(home).get(id);
  if (!body.ok || !grant || !(await isSignedBy(token, "borrower", body.value.key))) return UNKNOWN_GRANT;
  const { secret, key, url, home: borrower } = body.value;
  const hash = await sha256Hex(secret);
  const before = grantsOf(home).get(id) ?? grant;
  const isAgain = before.borrower?.key === key && isGood(before, now);
  const isOffered = before.revokedAt === null && before.expiresAt > now && before.offeredUntil > now;
  // A hash tells nothing of the secret, so the time of this comparison does not either.
  if (!isAgain && !(isOffered && before.secretHash === hash)) return UNKNOWN_GRANT;
  // Only a home of this gateway has no address, and only such a request comes without a host.
  const isHere = place.startsWith("/");
  // The request's own host is the borrower's word.
  const ownUrl = readSettings(home.env).publicUrl ?? `http://${place}`;
  const isReachable = isHere ? url === "" : isOtherHomeUrl(url, isLoopback(ownUrl));
  if (!isReachable)
    return {
      status: 400,
      body: errorBody("invalid_body", "url: expected the https address of your gateway, a public one"),
    };
  if (!isAgain) {
    grantsOf(home).accept(id, { key, url, home: borrower }, now);
    auditGrant(home, "lend", before.label, { state: "taken", agents: before.agents });
  }
  return { status: 200, body: grantedAgents(home, before) };
}

/** The lent agents as the borrower sees them: no other agent, and of these only what it may use. */
function grantedAgents(home: HomeContext, grant: Grant): LentAgents {
  const now = Date.now();
  let chars = 0;
  const listed = grant.agents.flatMap((id) => {
    const target = servedAgentsOf(home).target(id, now);
    if (!target) return [];
    const offered = grant.scopes.includes("command") ? target.adverts : [];
    const actions = offered
      .filter(({ effect }) => !grant.readsOnly || effect === "read")
      .flatMap((advert) => {
        const shown = chars < ADVERTS_MAX_CHARS ? advert : { ...advert, description: "", parameters: {} };
        chars += JSON.stringify(shown).length;
        return chars < ADVERTS_MAX_CHARS + NAMES_MAX_CHARS ? [shown] : [];
      });
    const mayBeAsked = grant.scopes.includes("ask") && (!grant.readsOnly || onlyReads(target));
    const takes_queries = target.hasModel && mayBeAsked;
    return [{ id, line: target.line, online: target.online, takes_queries, actions }];
  });
  return {
    agents: listed,
    scopes: grant.scopes,
    reads_only: grant.readsOnly,
    expires_at: grant.expiresAt,
  };
}

/** The id of the call here. It contains the grant, so that no borrower can name the call of another one. */
async function idOf(grant: Grant, id: string): Promise<string> {
  return `p-${(await sha256Hex(`${grant.id}\n${id}`)).slice(0, 40)}`;
}

async function onCall(home: HomeContext, grant: Grant, call: LentCall): Promise<LendingReply> {
  const id = await idOf(grant, call.id);
  if (!ledgerOf(home).get(id)) {
    const refusal = refusalOf(home, grant, call);
    if (refusal) return ended(refusal);
    const { agent: agent_id, query, action, params, chain } = call;
    const args = {
      agent_id,
      ...(query !== undefined && { query }),
      ...(action !== undefined && { action }),
      ...(params && { params }),
    };
    const via = Array<string>(chain.steps).fill(principalOf(grant));
    const request = {
      id,
      conversation: null,
      args,
      caller: {
        principal: principalOf(grant),
        role: "guest" as const,
        channel: LENDING_CHANNEL,
        ...(via.length > 0 && { chain: { id, via } }),
      },
      watched: call.watched === true,
      tainted: true,
      limits: { agents: grant.agents, readsOnly: grant.readsOnly },
    };
    const reply = await submit(home, request, { by: "home", grant: grant.id, call: call.id });
    if (!reply.accepted) return ended(reply.outcome);
  }
  const row = ledgerOf(home).get(id);
  if (!row || row.outcome) return ended(row?.outcome ?? notRun("execution_failed", "It has ended."));
  return { status: 200, body: { left_ms: Math.max(0, row.endsAt - Date.now()) } };
}

/** The borrower's name for models, devices and the record of this home. */
function principalOf({ label }: Grant): string {
  return `home:${label}`;
}

function refusalOf(home: HomeContext, grant: Grant, call: LentCall): SettledOutcome | undefined {
  // Nobody learns whether there is such an agent.
  if (!grant.agents.includes(call.agent) || !servedAgentsOf(home).has(call.agent))
    return notRun("not_found", `Agent '${call.agent}' is not lent.`);
  const scope = call.query === undefined ? "command" : "ask";
  if (!grant.scopes.includes(scope))
    return notRun(
      "permission_denied",
      scope === "ask"
        ? "The lender's agents take actions only, no questions in words."
        : "The lender's agents take questions in words only, no actions.",
    );
  const open = ledgerOf(home)
    .open()
    .filter(({ asker }) => asker?.by === "home" && asker.grant === grant.id);
  if (open.length >= OPEN_MAX)
    return notRun("execution_failed", `${OPEN_MAX} calls under this grant are open already.`);
  return undefined;
}

function notRun(errorType: ErrorType, why: string): SettledOutcome {
  const text = `Error: ${why} Nothing was run.`;
  return { status: "error", errorType, text, advice: "Explain this to the user.", elapsedMs: 0, sources: [] };
}

function ended(outcome: SettledOutcome): LendingReply {
  return { status: 200, body: { outcome: toBorrower(outcome) } };
}

async function onCancel(home: HomeContext, grant: Grant, callId: string): Promise<LendingReply> {
  // A job has its own id on both sides.
  const job = ledgerOf(home).get(callId)?.asker;
  const isJob = job?.by === "home" && job.grant === grant.id && job.call === callId;
  const id = isJob ? callId : await idOf(grant, callId);
  await cancelCalls(home, [{ id }], null);
  await closeQuestions(home, id);
  return { status: 200, body: {} };
}

/** The lender brings the outcome of a call of ours, or tells what happens in it. */
async function onReport(
  home: HomeContext,
  kind: "outcome" | "progress",
  token: LendingToken,
  text: string,
): Promise<LendingReply> {
  const borrowing = borrowingsOf(home).byGrant(token.claims.grant);
  if (!borrowing || !(await isSignedBy(token, "lender", borrowing.lenderKey))) return UNKNOWN_GRANT;
  const { grant, name } = borrowing;
  // Counted by kind: what is told meanwhile must not take the place of outcomes.
  if (!requestRatesOf(home).accept(`${grant} ${kind}`, Date.now())) return TOO_MANY;
  return await withBody<LentReport>(kind === "outcome" ? LentOutcome : LentProgress, text, async (report) => {
    const call = ledgerOf(home).get(report.id);
    // A lender may speak of its own agents alone. What is forgotten here needs no outcome.
    if (call?.agent.startsWith(`${name}/`)) {
      if ("outcome" in report) await settleLent(home, call, report.outcome);
      else if (!call.outcome) showNews(home, call, name, report);
    }
    await home.alarm.arm();
    return { status: 200, body: {} };
  });
}
