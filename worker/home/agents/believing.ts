/**
 * What counts of a bridge's word about an agent that has a key: what the agent itself signed, and is no older than
 * what was believed before. The bridge judges silence; it cannot make an agent come online.
 */
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { AgentKeys } from "./agent-keys.ts";

export type Believed = {
  /** Without the adverts that do not count. */
  state: AgentState;
  /** An advert that is not there leaves the one before in place. */
  keepsAdverts: boolean;
  /** What is wrong, in words; undefined: nothing. */
  problem: string | undefined;
  /** It was started anew: what was sent to the run before is lost. */
  isNewRun: boolean;
};

const ADVERTS = ["capabilities", "tools"] as const;

export async function believe(keys: AgentKeys, told: AgentState): Promise<Believed> {
  const { id } = told;
  const standing = keys.standing(id);
  if (standing === "none") return { state: told, keepsAdverts: false, problem: undefined, isNewRun: false };
  const { capabilities: _, tools: __, ...bare } = told;
  const offline = { ...bare, online: false, foreign: false };
  if (standing === "revoked")
    return {
      state: { ...offline, reason: REVOKED },
      keepsAdverts: true,
      problem: REVOKED,
      isNewRun: false,
    };
  const presence = await hearAdvert(keys, told, "presence");
  const state: AgentState = { ...offline };
  let problem = presence.why;
  for (const kind of ADVERTS) {
    const advert = await hearAdvert(keys, told, kind);
    if (advert.text !== undefined) {
      state[kind] = advert.text;
      keys.believed(id, { [kind]: advert.n });
    }
    problem ??= advert.why;
  }
  const said = presence.text === undefined ? undefined : checkJson(Presence, presence.text);
  // Said after its presence, whatever that is: somebody may have put an old one in its place.
  const report = await hearReport(keys, told);
  const alive = report && report.n > presence.n ? report : undefined;
  if (alive && problem === presence.why) problem = undefined;
  const isThere = alive !== undefined || (said?.ok === true && said.value.state === "online");
  const bootId = alive?.bootId ?? presence.bootId;
  const isNewRun = isThere && bootId !== keys.bootOf(id);
  if (bootId !== undefined)
    keys.believed(id, presence.text === undefined ? {} : { presence: presence.n }, bootId);
  if (told.online && isThere) state.online = true;
  else if (told.online) state.reason = problem ?? UNSIGNED;
  return { state, keepsAdverts: true, problem, isNewRun };
}

export const REVOKED = "its key was revoked; pair it again to use it";
export const UNSIGNED = "it has not said that it is online with its signature";

/** The agent's own word, newer than every presence of it that was believed, that it is there. */
async function hearReport(keys: AgentKeys, { id, alive }: AgentState) {
  if (alive === undefined) return undefined;
  const heard = await keys.hear(id, "reports", alive);
  return heard.ok && keys.isNews(id, "presence", heard.n) ? heard : undefined;
}

type Advert = { text?: string; n: number; bootId?: string; why?: string };

async function hearAdvert(
  keys: AgentKeys,
  told: AgentState,
  kind: "presence" | (typeof ADVERTS)[number],
): Promise<Advert> {
  const text = told[kind];
  if (text === undefined) return { n: 0 };
  const heard = await keys.hear(told.id, kind, text);
  if (!heard.ok) return { n: 0, why: `${kind}: ${heard.why}` };
  if (!keys.isNews(told.id, kind, heard.n)) return { n: 0, why: `${kind}: an old one, said again` };
  return { text, n: heard.n, bootId: heard.bootId };
}
