/**
 * Agents that one home lends to another, at the same gateway or at another one: what owners see and give, and what the two homes
 * tell each other. docs/guides/lend.md lists what each side may learn.
 */
import { toBase64Url, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { ActionAdvert, CalledOutcome, CHAIN_MAX } from "@edgecall/core/protocol/mqtt.ts";
import { AGENT_ID, CallId, isReservedId, RESERVED_ID, UUID } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { PublicKey } from "@edgecall/core/protocol/signing.ts";
import { checkUrl } from "@edgecall/core/web/address.ts";
import { AgentId } from "../../kernel/api/agent-ids.ts";
import type { BorrowedView, GrantScope, LentView } from "../../kernel/api/answers.ts";
import { errorBody } from "../../kernel/api/errors.ts";
import { HOME_ID } from "../../kernel/settings/tokens.ts";

const GRANT_SCOPES = ["ask", "command"] as const satisfies readonly GrantScope[];

/** Agents of one grant. */
const AGENTS_MAX = 64;

// For owners

const LABEL = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u;

export const NewLending = z.strictObject({
  /** This home's name for the borrower. */
  label: z
    .string()
    .check(
      z.trim(),
      z.minLength(1),
      z.maxLength(64),
      z.regex(LABEL, "expected letters, digits, spaces and . _ @ + -"),
    ),
  agents: z.array(AgentId).check(z.minLength(1), z.maxLength(AGENTS_MAX)),
  scopes: z.array(z.enum(GRANT_SCOPES)).check(z.minLength(1), z.maxLength(GRANT_SCOPES.length)),
  reads_only: z.boolean(),
  expires_in_days: z.int().check(z.minimum(1), z.maximum(366)),
});
export type NewLending = z.infer<typeof NewLending>;

export const NewBorrowing = z.strictObject({
  invitation: z.string().check(z.maxLength(2_000)),
  /** The first part of the agents' ids here. */
  name: z.string().check(
    z.regex(HOME_ID, "expected a name of a-z, 0-9 and -"),
    z.refine((name) => !isReservedId(name), RESERVED_ID),
  ),
});

/** @property status of HTTP, when an owner's request is refused */
export type Refused = { ok: false; status: 400 | 404 | 409 | 502; code: string; message: string };
export type Lending = { ok: true; lent: LentView; invitation: Invitation } | Refused;
export type Borrowing = { ok: true; borrowed: BorrowedView } | Refused;
/**
 * @property by the owner @property ownUrl the gateway's own origin, to which the lender brings outcomes
 * @property isHere the lender is a home of this gateway
 */
export type BorrowInto = { name: string; by: string; ownUrl: string; isHere: boolean };

// The invitation

const PREFIX = "ecl_";
/** @property url the lender's origin @property key its gateway key @property secret good for one use */
const Invitation = z.object({
  url: z.string().check(z.maxLength(200)),
  home: z.string().check(z.regex(HOME_ID)),
  grant: z.string().check(z.regex(UUID)),
  key: PublicKey,
  secret: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)),
});
export type Invitation = z.infer<typeof Invitation>;

export function invitationText(invitation: Invitation): string {
  return PREFIX + toBase64Url(utf8(JSON.stringify(invitation)));
}

/** @returns undefined: it is none */
export function readInvitation(text: string): Invitation | undefined {
  const trimmed = text.trim();
  const bytes = trimmed.startsWith(PREFIX) ? tryFromBase64Url(trimmed.slice(PREFIX.length)) : undefined;
  const read = bytes && checkJson(Invitation, new TextDecoder().decode(bytes));
  return read?.ok ? read.value : undefined;
}

// Between homes

export const LENDING_KINDS = ["take", "agents", "call", "cancel", "progress", "outcome"] as const;
export type LendingKind = (typeof LENDING_KINDS)[number];

/** @property status of HTTP @property body JSON */
export type LendingReply = { status: number; body: unknown };

/** The answer to whoever has no good grant, whatever is wrong. */
export const UNKNOWN_GRANT: LendingReply = {
  status: 401,
  body: errorBody("unauthorized", "there is no such grant here, or it has ended"),
};

/**
 * True for the address of a gateway that requests may be sent to: a public one, since whoever names it is a stranger.
 * @param isAtHome this gateway is on its own machine alone, where another one may be
 */
export function isOtherHomeUrl(url: string, isAtHome: boolean): boolean {
  if (!URL.canParse(url)) return false;
  const { origin, protocol } = new URL(url);
  if (origin !== url) return false;
  if (isLoopback(url)) return isAtHome && (protocol === "https:" || protocol === "http:");
  return protocol === "https:" && checkUrl(url).ok;
}

/** The borrower takes the grant. `url`: where the lender brings outcomes; "": both homes are at one gateway. */
export const AcceptGrant = z.object({
  secret: z.string().check(z.maxLength(100)),
  key: PublicKey,
  url: z.string().check(z.maxLength(200)),
  home: z.string().check(z.regex(HOME_ID)),
});

/** The lender's answer to `take` and `agents`. */
export const LentAgents = z.object({
  agents: z
    .array(
      z.object({
        id: AgentId,
        line: z.string().check(z.maxLength(4_000)),
        online: z.boolean(),
        takes_queries: z.boolean(),
        actions: z.array(ActionAdvert).check(z.maxLength(256)),
      }),
    )
    .check(z.maxLength(AGENTS_MAX)),
  scopes: z.array(z.enum(GRANT_SCOPES)),
  reads_only: z.boolean(),
  expires_at: z.int(),
});
export type LentAgents = z.infer<typeof LentAgents>;

/** A call of a lent agent. `chain.steps`: how many agents were before it, whose names are not told. `watched`: somebody wants its output as it comes. */
export const LentCall = z.object({
  id: z.string().check(z.regex(UUID)),
  agent: z.string().check(z.regex(AGENT_ID)),
  query: z.optional(z.string()),
  action: z.optional(z.string()),
  params: z.optional(z.record(z.string(), z.unknown())),
  chain: z.object({ steps: z.int().check(z.minimum(0), z.maximum(CHAIN_MAX)) }),
  watched: z.optional(z.boolean()),
});
export type LentCall = z.infer<typeof LentCall>;

/** The answer to `call`: the call's outcome, or how long it may still take. */
export const LentCallReply = z.union([
  z.object({ outcome: CalledOutcome }),
  z.object({ left_ms: z.number().check(z.minimum(0), z.maximum(8 * 86_400_000)) }),
]);

export const CancelLentCall = z.object({ id: CallId });

/** `waits_for`: what a person of the lender is asked for. `text`: what the device printed since. */
export const LentProgress = z.object({
  id: CallId,
  waits_for: z.optional(z.enum(["approval", "an answer", "nothing"])),
  text: z.optional(z.string().check(z.maxLength(10_000))),
});
export type LentProgress = z.infer<typeof LentProgress>;
export type LentNews = Omit<LentProgress, "id">;

/** `id`: of the borrower's call, or the job that its outcome named. */
export const LentOutcome = z.object({ id: CallId, outcome: CalledOutcome });
export type LentReport = z.infer<typeof LentOutcome> | LentProgress;
