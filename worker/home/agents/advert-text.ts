/**
 * The words by which an agent describes itself to a model: its line, the names of its actions, and its group. An owner accepts
 * them. Pairing the agent, or naming it in ALLOW_UNSIGNED_AGENTS, accepts the first ones. Words that are not accepted taint
 * like anything that the agent says (core/loop/taint.ts). Descriptions and schemas reach our models only in an agent's
 * outcomes, which taint anyway. MCP clients see them in lists, too. The calls of such a client taint, unless
 * MCP_TRUSTED_TOKENS names its token, which vouches for the descriptions (docs/mcp.md). Pure.
 */

import { isDefaultLine } from "@edgecall/core/text/default-line.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";

export type AdvertText = { id: string; line: string; actions: readonly string[]; group?: string | null };

/** Every line and name that was accepted so far, so that a tool which comes and goes is asked about once. */
export type AcceptedText = {
  lines: string[];
  /** Null: the agent advertised none yet, so the first ones are still to come. */
  actions: string[] | null;
  /** Absent: none. */
  groups?: string[];
};
export const NOTHING_ACCEPTED: AcceptedText = { lines: [], actions: null };

/** The words that nobody has accepted yet. `was`: the line that was accepted last. */
export type NewText = { line?: string; was?: string; actions: string[]; group?: string };

/** Older ones are deleted, and asked about again. */
const LINES_MAX = 10;
const ACTIONS_MAX = 512;

/** @returns the words that nobody accepted; undefined: all are accepted */
export function newText(text: AdvertText, accepted: AcceptedText): NewText | undefined {
  const actions = text.actions.filter((name) => !isOwnTool(name) && !accepted.actions?.includes(name));
  // A default line changes with the tools, and nobody should have to accept edgecall's own words.
  const isNewLine = !accepted.lines.includes(text.line) && !isDefaultLine(text.line, text.id);
  const group =
    text.group != null && !isAcceptedGroup(text.group, accepted) ? { group: text.group } : undefined;
  if (!isNewLine && actions.length === 0 && !group) return undefined;
  const [was] = accepted.lines;
  return { ...(isNewLine && { line: text.line, ...(was !== undefined && { was }) }), actions, ...group };
}

/** An agent gets the calls of its group, so an owner decides who is in it. */
export function isAcceptedGroup(group: string, { groups = [] }: AcceptedText): boolean {
  return groups.includes(group);
}

export function accept(text: Partial<AdvertText>, accepted: AcceptedText): AcceptedText {
  const { line, actions, group } = text;
  const { groups = [] } = accepted;
  const joined = [...new Set([...(group == null ? [] : [group]), ...groups])].slice(0, LINES_MAX);
  return {
    lines: [...new Set([...(line === undefined ? [] : [line]), ...accepted.lines])].slice(0, LINES_MAX),
    actions: actions
      ? [...new Set([...actions, ...(accepted.actions ?? [])])].slice(0, ACTIONS_MAX)
      : accepted.actions,
    ...(joined.length > 0 && { groups: joined }),
  };
}

/** Letting an agent in accepts its first words. @param advertised which of them it advertised just now */
export function acceptFirst(
  text: AdvertText,
  advertised: { line: boolean; actions: boolean },
  accepted: AcceptedText,
) {
  return accept(
    {
      ...(advertised.line && accepted.lines.length === 0 && { line: text.line, group: text.group ?? null }),
      ...(advertised.actions && accepted.actions === null && { actions: text.actions }),
    },
    accepted,
  );
}
