/** Says whose texts taint a call, in words for a person. */

import { firstUseSource, isTainted, type Source, STRANGER, taints } from "@edgecall/core/loop/taint.ts";
import type { UnreadText } from "@edgecall/core/protocol/mqtt.ts";
import type { SubmitRequest } from "../../api/calls.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";

/** A question shows the descriptions of so many agents, and so many names of actions of each. */
const UNREAD_MAX = 5;
const ACTIONS_MAX = 20;

const STRANGERS_TEXT = "the conversation holds a text of another device, a file, the web or a picture";
const UNSEEN_TEXT = "it comes from another program's model, which may have read anything";

/**
 * The texts that taint a call to this agent. A call without a conversation comes from another program's model, and nobody remembers what our
 * agents showed it.
 * @param agent a group counts as open: the agent that is chosen is judged when it is known
 */
export function taintsOf(
  home: HomeContext,
  {
    conversation,
    tainted,
    sources,
    args,
  }: Pick<SubmitRequest, "conversation" | "tainted" | "sources" | "args">,
  agent: string | { group: string } = args.agent_id,
): { tainted: boolean; because: readonly Source[] } {
  const because = sources ?? (conversation === null ? rosterOf(home).unread() : []);
  const to =
    typeof agent === "string" ? { agent, isOpen: isOpen(home, agent) } : { agent: agent.group, isOpen: true };
  const judged = because.map((source) => byUse(home, source));
  return { tainted: tainted || isTainted(judged, to), because };
}

/**
 * What an open agent says counts like its first words, as long as nothing that it says of itself is new: neither its answers nor words that a person
 * accepted since the conversation was shown them ask again.
 */
function byUse(home: HomeContext, source: Source): Source {
  if (!source.startsWith("agent:")) return source;
  const id = idOf(source);
  return isOpen(home, id) && agentRowsOf(home).isRead(id) ? firstUseSource(id) : source;
}

function idOf(source: Source): string {
  return source.slice(source.indexOf(":") + 1);
}

/** True for an agent of EvoClaw's kind that only `*` lets in: no owner named it, it has no key, and it is neither the bridge's nor another home's. */
export function isOpen(home: HomeContext, id: string): boolean {
  const rows = agentRowsOf(home);
  return rows.has(id) && rows.isForeign(id) && !hostedDevicesOf(home).get(id) && keysOf(home).isOpen(id);
}

export type TaintReason = { reason: string; unread: UnreadText[] };

/**
 * Why a person is asked, and the descriptions among the reasons that no person has accepted, as they are now.
 * @param because of `taintsOf`
 */
export function taintReason(
  home: HomeContext,
  {
    conversation,
    because,
    target,
  }: { conversation: string | null; because: readonly Source[]; target: string },
): TaintReason {
  const to = { agent: target, isOpen: isOpen(home, target) };
  const causes = because.filter((source) => taints(byUse(home, source), to));
  const ids = new Set(causes.filter((source) => source !== STRANGER).map(idOf));
  const all = [...ids].flatMap((agent) => {
    const text = agentRowsOf(home).unreadOf(agent);
    return text ? [{ agent, ...text, actions: text.actions.slice(0, ACTIONS_MAX) }] : [];
  });
  const named = new Set(all.map(({ agent }) => agent));
  const unread = all.slice(0, UNREAD_MAX);
  const told = unread.map(unreadReason);
  if (conversation === null) told.push(UNSEEN_TEXT);
  else if (told.length === 0 || !causes.every((source) => named.has(idOf(source)))) told.push(STRANGERS_TEXT);
  return { reason: told.join("; "), unread };
}

/** "the description of 'evo' has changed, and nobody has accepted it" */
function unreadReason({ agent, line, was, actions, group }: UnreadText): string {
  const what =
    line !== undefined
      ? `the description of '${agent}', which the model is shown, ${was === undefined ? "is not accepted" : "has changed"}`
      : actions.length > 0
        ? `'${agent}' offers new actions, whose names the model is shown: ${actions.slice(0, 3).join(", ")}`
        : `'${agent}' says that it belongs to the group '${group}'`;
  return `${what}${line !== undefined && was === undefined ? " by anybody" : ", and nobody has accepted that"}`;
}
