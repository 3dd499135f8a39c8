/** What the commands of a chat answer. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { AgentPage } from "../../../kernel/api/agent-list.ts";
import type { HomeStatus } from "../../../kernel/api/answers.ts";
import { ago, oneLine } from "../../../kernel/api/roster.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";

export function helpText(phrases: Phrases): string {
  return [
    phrases.say("helpAsk"),
    `/stop – ${phrases.say("helpStop")}`,
    `/status – ${phrases.say("helpStatus")}`,
    `/agents – ${phrases.say("helpAgents")}`,
    `/rules – ${phrases.say("helpRules")}`,
    `/ack – ${phrases.say("helpAck")}`,
    `/new – ${phrases.say("helpNew")}`,
    `/answer – ${phrases.say("helpAnswer")}`,
    `/approve CODE – ${phrases.say("helpApprove")}`,
  ].join("\n");
}

/** The number of agents that a chat shows at once. */
export const AGENTS_SHOWN = 30;

export function statusText(running: readonly Turn[], { bridge, agents }: HomeStatus): string {
  const turns =
    running.length === 0
      ? "Nothing is running in this conversation."
      : `Running in this conversation: ${running.length}, the oldest since ${ago(running[0]?.createdAt ?? null, Date.now())}.`;
  const home = bridge.online
    ? `The home is connected; ${agents.online} of ${agents.known} devices are online.`
    : `The home is not connected (last seen ${ago(bridge.last_seen, Date.now())}).`;
  return `${turns}\n${home}`;
}

/** @param page the first one, of those in reach */
export function agentsText(page: AgentPage | undefined): string {
  if (!page || page.total === 0) return "No device is known here.";
  const lines = page.agents.map(({ id, online, last_seen, capabilities }) => {
    const state = online ? "online" : `offline, last seen ${ago(last_seen, Date.now())}`;
    return `${online ? "●" : "○"} ${id} (${state}): ${oneLine(capabilities, 100)}`;
  });
  const left = page.total - page.agents.length;
  const more = left > 0 ? [`and ${left} more`] : [];
  return [...lines, ...more].join("\n");
}
