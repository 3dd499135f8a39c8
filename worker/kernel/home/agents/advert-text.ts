/**
 * The words by which an agent describes itself to a model: its line, the names of its actions, and its group. An owner accepts
 * them. Pairing the agent, or naming it in ALLOW_UNSIGNED_AGENTS, accepts the first ones. ALLOW_UNSIGNED_AGENTS=* accepts the first ones as far
 * as calls to other such agents go (core/loop/taint.ts). Words that are not accepted taint
 * like anything that the agent says (core/loop/taint.ts). Descriptions and schemas reach our models only in an agent's
 * outcomes, which taint anyway. MCP clients see them in lists, too. The calls of such a client taint, unless
 * MCP_TRUSTED_TOKENS names its token, which vouches for the descriptions (docs/using/mcp.md). Pure.
 */

import { isDefaultLine } from "@edgecall/core/text/default-line.ts";
import { isShortId } from "@edgecall/core/text/label.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";

export type AdvertText = { id: string; line: string; actions: readonly string[]; group?: string | null };

/** Every line and name that was accepted so far, so that a tool which comes and goes is asked about once. */
export type AcceptedText = {
  lines: string[];
  /** Null: the agent advertised none yet, so the first ones are still to come. */
  actions: string[] | null;
  /** Absent: none. */
  groups?: string[];
  /** No person has accepted anything: they were the first words of an agent that only ALLOW_UNSIGNED_AGENTS=* lets in. */
  byUse?: true;
};
export const NOTHING_ACCEPTED: AcceptedText = { lines: [], actions: null };

/** The words that nobody has accepted yet. `was`: the line that was accepted last. */
export type NewText = { line?: string; was?: string; actions: string[]; group?: string };

/** `water_garden`. Not `Read`, which looks like a tool of edgecall's own. */
const SHORT_NAME = /^[a-z0-9]{1,16}(?:[-_][a-z0-9]{1,16}){0,2}$/;

/** Older ones are deleted, and asked about again. */
const LINES_MAX = 10;
const ACTIONS_MAX = 512;

/**
 * @param isSigned it has a key: what a person installs there is meant. Three words are no order to a model, so a new skill's name is not asked about
 * @returns the words that nobody accepted; undefined: all are accepted
 */
export function newText(text: AdvertText, accepted: AcceptedText, isSigned = false): NewText | undefined {
  const isKnown = (name: string) =>
    isOwnTool(name) ||
    accepted.actions?.includes(name) ||
    (isSigned && SHORT_NAME.test(name) && isShortId(name));
  const actions = text.actions.filter((name) => !isKnown(name));
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

/**
 * Letting an agent in accepts its first words; serving any agent (`*`) accepts them by use, without the group.
 * @param advertised which of them it advertised just now
 */
export function acceptFirst(
  text: AdvertText,
  advertised: { line: boolean; actions: boolean },
  before: AcceptedText,
  isByUse = false,
): AcceptedText {
  // An owner names an agent whose words counted by use so far: its first words are still to come.
  const accepted = !isByUse && before.byUse ? NOTHING_ACCEPTED : before;
  const group = isByUse ? {} : { group: text.group ?? null };
  const now = accept(
    {
      ...(advertised.line && accepted.lines.length === 0 && { line: text.line, ...group }),
      ...(advertised.actions && accepted.actions === null && { actions: text.actions }),
    },
    accepted,
  );
  const isFirst = before.byUse === true || (before.lines.length === 0 && before.actions === null);
  const isAny = now.lines.length > 0 || now.actions !== null;
  return isByUse && isFirst && isAny ? { ...now, byUse: true } : now;
}
