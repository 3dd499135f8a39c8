/**
 * What counts of a bridge's word about an agent that has a key: what the agent itself signed, unless it is older than
 * what was verified before. The bridge judges silence; it cannot make an agent come online.
 */
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { AgentKeys } from "./agent-keys.ts";

export type VerifiedState = {
  /** Without the adverts that do not count. */
  state: AgentState;
  /** An advert that is missing leaves the one before in place. */
  keepsAdverts: boolean;
  /** What is wrong, in words; undefined: nothing. */
  problem: string | undefined;
  /** It was started anew: what was sent to the run before is lost. */
  isNewRun: boolean;
};

export const REVOKED = "its key was revoked; pair it again to use it";
export const UNSIGNED = "it has not said that it is online with its signature";

const ADVERTS = ["capabilities", "tools"] as const;

export async function verifyPresence(keys: AgentKeys, reported: AgentState): Promise<VerifiedState> {
  const { id } = reported;
  const standing = keys.standing(id);
  if (standing === "none")
    return { state: reported, keepsAdverts: false, problem: undefined, isNewRun: false };
  const { capabilities: _, tools: __, ...bare } = reported;
  const offline = { ...bare, online: false, foreign: false };
  if (standing === "revoked")
    return {
      state: { ...offline, reason: REVOKED },
      keepsAdverts: true,
      problem: REVOKED,
      isNewRun: false,
    };
  const presence = await verifyAdvert(keys, reported, "presence");
  const state: AgentState = { ...offline };
  let problem = presence.why;
  for (const kind of ADVERTS) {
    const advert = await verifyAdvert(keys, reported, kind);
    if (advert.text !== undefined) {
      state[kind] = advert.text;
      keys.setVerified(id, { [kind]: advert.n });
    }
    problem ??= advert.why;
  }
  const parsed = presence.text === undefined ? undefined : checkJson(Presence, presence.text);
  // A report that is newer than the presence proves that the agent lives: somebody may have put an old presence in its place.
  const report = await verifyReport(keys, reported);
  const newerReport = report && report.n > presence.n ? report : undefined;
  if (newerReport && problem === presence.why) problem = undefined;
  const isAlive = newerReport !== undefined || (parsed?.ok === true && parsed.value.state === "online");
  const bootId = newerReport?.bootId ?? presence.bootId;
  const isNewRun = isAlive && bootId !== keys.bootOf(id);
  if (bootId !== undefined)
    keys.setVerified(id, presence.text === undefined ? {} : { presence: presence.n }, bootId);
  if (reported.online && isAlive) state.online = true;
  else if (reported.online) state.reason = problem ?? UNSIGNED;
  return { state, keepsAdverts: true, problem, isNewRun };
}

/** The agent's report that the bridge passes on as a sign of life, if it is newer than every verified presence. */
async function verifyReport(keys: AgentKeys, { id, alive }: AgentState) {
  if (alive === undefined) return undefined;
  const verified = await keys.verify(id, "reports", alive);
  return verified.ok && keys.isFresh(id, "presence", verified.n) ? verified : undefined;
}

type VerifiedAdvert = { text?: string; n: number; bootId?: string; why?: string };

async function verifyAdvert(
  keys: AgentKeys,
  reported: AgentState,
  kind: "presence" | (typeof ADVERTS)[number],
): Promise<VerifiedAdvert> {
  const text = reported[kind];
  if (text === undefined) return { n: 0 };
  const verified = await keys.verify(reported.id, kind, text);
  if (!verified.ok) return { n: 0, why: `${kind}: ${verified.why}` };
  if (!keys.isFresh(reported.id, kind, verified.n)) return { n: 0, why: `${kind}: an old one, said again` };
  return { text, n: verified.n, bootId: verified.bootId };
}
