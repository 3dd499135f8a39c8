/**
 * What counts of a bridge's word about an agent. Of an agent that has a key, that is what the agent itself signed, unless it
 * is older than what was verified before. The bridge judges silence; it cannot make an agent come online.
 *
 * A text that Home has stored already is neither verified nor read again.
 */
import { type AgentState, TEXT_KINDS, type TextKind } from "@edgecall/core/protocol/frames.ts";
import type { BridgeSession } from "@edgecall/core/protocol/home-frames.ts";
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { textHash } from "@edgecall/core/protocol/text-hash.ts";
import type { AgentKeys } from "./agent-keys.ts";

/** What Home has stored of an agent's texts. */
export type KnownTexts = {
  /** Of the last text of each kind that counted. */
  hashes: Partial<Record<TextKind, string>>;
  /** The stored presence says "online". */
  saysOnline: boolean;
  /** The run that the stored presence names. */
  run: string | undefined;
  /** The hash of the rules that the agent watches. Absent: it knows none. */
  rules?: string | undefined;
};
export const NO_TEXTS: KnownTexts = { hashes: {}, saysOnline: false, run: undefined };

export type VerifiedState = {
  /** Without the texts that do not count, and without those that Home has stored already. */
  state: AgentState;
  /** The kinds whose stored text stays. */
  kept: ReadonlySet<TextKind>;
  texts: KnownTexts;
  /** What is wrong with what was verified now, in words; undefined: nothing. */
  problem: string | undefined;
  /** It was started anew: what was sent to the run before is lost. */
  isNewRun: boolean;
  /** Its new session, for the bridge. */
  session?: BridgeSession | undefined;
};

export const REVOKED = "its key was revoked; pair it again to use it";
export const UNSIGNED = "it has not said that it is online with its signature";

type Compared = { state: AgentState; kept: Set<TextKind>; hashes: KnownTexts["hashes"] };

/** @param known what is stored of the agent */
export async function verifyPresence(
  keys: AgentKeys,
  reported: AgentState,
  known: KnownTexts,
): Promise<VerifiedState> {
  const standing = keys.standing(reported.id);
  if (standing === "revoked") {
    const { capabilities: _, tools: __, presence: ___, ...bare } = reported;
    return {
      state: { ...bare, online: false, foreign: false, reason: REVOKED },
      kept: new Set(TEXT_KINDS),
      texts: known,
      problem: REVOKED,
      isNewRun: false,
    };
  }
  const compared = await compare(reported, known);
  return standing === "none" ? unsigned(compared, known) : await signed(keys, reported, compared, known);
}

/** Takes out the texts that are stored already. */
async function compare(reported: AgentState, known: KnownTexts): Promise<Compared> {
  const { kept: named, ...state } = reported;
  const kept = new Set<TextKind>(named);
  const hashes: KnownTexts["hashes"] = {};
  for (const kind of TEXT_KINDS) {
    const text = state[kind];
    const hash = text === undefined ? undefined : await textHash(text);
    if (hash !== undefined && hash === known.hashes[kind]) kept.add(kind);
    if (kept.has(kind)) delete state[kind];
    const stays = kept.has(kind) ? known.hashes[kind] : hash;
    if (stays !== undefined) hashes[kind] = stays;
  }
  return { state, kept, hashes };
}

/** An agent without a key is trusted as the bridge reports it. */
function unsigned({ state, kept, hashes }: Compared, known: KnownTexts): VerifiedState {
  const { saysOnline, run, rules } = kept.has("presence") ? known : readPresence(state.presence);
  const texts = { hashes, saysOnline, run, ...(rules !== undefined && { rules }) };
  return { state, kept, texts, problem: undefined, isNewRun: false };
}

async function signed(
  keys: AgentKeys,
  reported: AgentState,
  compared: Compared,
  known: KnownTexts,
): Promise<VerifiedState> {
  const { id } = reported;
  const { capabilities: _, tools: __, presence: ___, ...bare } = compared.state;
  const state: AgentState = { ...bare, online: false, foreign: false };
  const texts: KnownTexts = { ...known, hashes: { ...known.hashes } };
  const counters: Partial<Record<TextKind, number>> = {};
  const problems: Partial<Record<TextKind, string>> = {};
  let bootId: string | undefined;
  /** Of a presence that counts: its run, and the half of a session that it offers. */
  let said: { run: string; half: string | undefined } | undefined;
  for (const kind of TEXT_KINDS) {
    const text = compared.state[kind];
    if (text === undefined) continue;
    const verified = await verifyText(keys, id, kind, text);
    if (!verified.ok) {
      problems[kind] = verified.why;
      continue;
    }
    counters[kind] = verified.n;
    state[kind] = text;
    Object.assign(texts.hashes, { [kind]: compared.hashes[kind] });
    if (kind !== "presence") continue;
    bootId = verified.bootId;
    const { saysOnline, half, rules } = readPresence(text);
    texts.saysOnline = saysOnline;
    texts.rules = rules;
    said = { run: bootId, half };
  }
  const counts = compared.kept.has("presence") || counters.presence !== undefined;
  // A report that is newer than the presence proves that the agent lives: somebody may have put an old presence in its place.
  const report = reported.alive === undefined ? undefined : await keys.verify(id, "reports", reported.alive);
  const newest = counters.presence ?? -1;
  const isNewer =
    report?.ok === true && report.n > newest && keys.isFresh(id, "presence", report.n - (counts ? 1 : 0));
  if (isNewer) bootId = report.bootId;
  const isAlive = isNewer || (counts && texts.saysOnline);
  const isNewRun = isAlive && bootId !== undefined && bootId !== keys.bootOf(id);
  if (Object.keys(counters).length > 0 || bootId !== undefined) keys.setVerified(id, counters, bootId);
  const half = said?.run === bootId ? said?.half : undefined;
  const session = half === undefined ? undefined : await keys.beginSession(id, half);
  texts.run = keys.bootOf(id);
  // A text that does not count leaves the one before in place.
  const kept = new Set(TEXT_KINDS.filter((kind) => state[kind] === undefined));
  const isOverruled = isNewer && problems.presence !== undefined;
  const problem = isOverruled ? undefined : (problems.presence ?? problems.capabilities ?? problems.tools);
  if (reported.online && isAlive) state.online = true;
  else if (reported.online) state.reason = problem ?? UNSIGNED;
  return { state, kept, texts, problem, isNewRun, session };
}

type SaidPresence = Pick<KnownTexts, "saysOnline" | "run" | "rules"> & {
  /** The agent's half of a session that begins. */
  half: string | undefined;
};

function readPresence(text: string | undefined): SaidPresence {
  const presence = text === undefined ? undefined : checkJson(Presence, text);
  if (!presence?.ok) return { saysOnline: false, run: undefined, half: undefined };
  const { state, boot_id: run, session, rules } = presence.value;
  const saysOnline = state === "online";
  return { saysOnline, run, half: saysOnline ? session : undefined, ...(saysOnline && { rules }) };
}

async function verifyText(keys: AgentKeys, agent: string, kind: TextKind, text: string) {
  const verified = await keys.verify(agent, kind, text);
  if (!verified.ok) return { ok: false, why: `${kind}: ${verified.why}` } as const;
  if (!keys.isFresh(agent, kind, verified.n))
    return { ok: false, why: `${kind}: an old one, said again` } as const;
  return verified;
}
