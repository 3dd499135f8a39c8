/** The list of a home's agents, page by page. */
import type { AgentView } from "./answers.ts";

/** A page holds so many unless the caller says otherwise: a smaller home is listed whole, as before there were pages. */
export const AGENTS_LISTED = 500;
export const AGENTS_LISTED_MAX = 1_000;
/** Characters of a search. */
export const AGENT_WORDS_MAX = 200;

export type AgentListQuery = {
  limit: number;
  /** The id of the last agent of the page before. */
  after?: string | undefined;
  /** A person's words: agents whose id or line has all of them; where none does, agents found as `find_agents` finds them. */
  words?: string | undefined;
  /** Only those that are online, or only the others. */
  online?: boolean | undefined;
  /** Only devices of the broker, which `GET /v1/devices` lists in full, or only the others. */
  hosted?: boolean | undefined;
  /** Only these ids. */
  ids?: readonly string[] | undefined;
};

/**
 * In the order of their ids; agents that were found by what words mean, the best first.
 * @property next to go on from; null: this was the last page
 * @property total how many fit the query, on all pages; `online` of them are online
 * @property counts calls of all that fit, on all pages
 */
export type AgentPage = {
  agents: AgentView[];
  next: string | null;
  total: number;
  online: number;
  counts: AgentView["counts"];
};
