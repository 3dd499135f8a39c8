/**
 * Which tools go with a request of a device's loop: those that fit the question and those that were used, instead of all. Each
 * costs 100 to 400 tokens a request, and some endpoints cut what does not fit their window without a word.
 *
 * A tool that is not offered can still be called: `more_tools` names the others and finds them by words, and a call to one by its
 * name runs. Either way it is offered from then on. The list only grows at its end, so that a prompt cache keeps its beginning.
 */

import { AgentIndex } from "../agents/agent-index.ts";
import { giveSearchWords } from "../agents/search-words.ts";
import { SEARCH_WORDS } from "../agents/search-words-data.ts";
import { topicsOf } from "../agents/tool-words.ts";
import { cutText } from "../text/cut.ts";
import type { ToolDefinition } from "../tools/registry.ts";
import { callsOf } from "./fit-current.ts";
import type { Call, CallRecord, Entry, Outcome } from "./history.ts";
import { textTokens } from "./tokens.ts";

/** The name of the tool that lists further ones. */
export const MORE_TOOLS = "more_tools";

/** Tokens of the first request's tools, as core/loop/tokens.ts estimates them. */
const OFFERED_TOKENS = 2_000;
/** Tokens of the definitions that one call of `more_tools` adds. */
const ADDED_TOKENS = 1_000;
/** Characters of the names of tools that are not offered. */
const NAMES_CHARS = 1_200;
const DESCRIPTION_CHARS = 200;
/** The characters of the question that count, at its beginning and at its end: a long one has its request there. */
const ASKED_CHARS = 1_000;
/** The tools that fit best are taken before the best one of each topic. */
const BEST = 3;
/** Share of the best score; a tool below it fits by chance. */
const FITS_FROM = 0.1;
/** Offered where no word of the question says anything. */
const GENERAL = ["system_info", "find_agents", "edge_call", "read", "ls", "find", "bash", "websearch"];
/** Words of nearly every English description. Where they are missing, the description is in another language. */
const ENGLISH = /\b(?:a|an|the|of|or|and|this|to|for|with)\b/i;

export type OfferOptions = {
  /** All tools of the loop. */
  tools: readonly ToolDefinition[];
  question: string;
  /** Earlier turns: what they called is offered again. */
  history?: readonly Entry[];
  /** Names of tools that other texts of the request tell the model to call. */
  always?: readonly string[];
};

export class ToolOffer {
  readonly #all: ReadonlyMap<string, ToolDefinition>;
  /** In the order of the request. */
  readonly #offered = new Map<string, ToolDefinition>();
  /** Call of `more_tools` → the names that it found. */
  readonly #found = new Map<string, readonly string[]>();
  /** Absent: all tools fit, and all are offered. */
  readonly #search: Search | undefined;

  constructor({ tools, question, history = [], always = [] }: OfferOptions) {
    this.#all = new Map(tools.map((tool) => [tool.function.name, tool]));
    if (tokensOfTools(tools) <= OFFERED_TOKENS || this.#all.has(MORE_TOOLS)) {
      for (const tool of tools) this.#offered.set(tool.function.name, tool);
      return;
    }
    this.#search = new Search(tools);
    const used = history.flatMap((entry) => callsOf(entry).map(({ name }) => name));
    const needed = new Set([...always, ...used].filter((name) => this.#all.has(name)));
    const room = OFFERED_TOKENS - tokensOfTools([moreTools([...this.#all.keys()])]);
    const taken = tokensOfTools(tools.filter((tool) => needed.has(tool.function.name)));
    const fit = this.#search.fit(question).filter((name) => !needed.has(name));
    // However much was used, the question gets its share.
    const first = [...needed, ...fitting(fit, this.#all, Math.max(room - taken, room / 2))];
    const others = [...this.#all.keys()].filter((name) => !first.includes(name));
    for (const name of first.sort()) this.#add(name);
    this.#offered.set(MORE_TOOLS, moreTools(others));
  }

  /**
   * Returns the tools of the next request.
   * @param turn the entries so far: the tools that they call are offered from now on
   */
  tools(turn: readonly Entry[]): ToolDefinition[] {
    for (const call of turn.flatMap(callsOf)) {
      this.#add(call.name);
      for (const name of this.#found.get(call.id) ?? []) this.#add(name);
    }
    return [...this.#offered.values()];
  }

  /**
   * Makes a call: answers `more_tools`, and tells the schema where the arguments of a tool that was not offered do not fit it.
   * @param run runs the call of a tool of the device
   */
  async run(call: Call, run: () => Promise<Outcome>): Promise<Outcome> {
    if (call.name === MORE_TOOLS && this.#search && call.problem === undefined)
      return this.#answer(call, this.#search);
    const wasOffered = this.#offered.has(call.name);
    const outcome = await run();
    const parameters = this.#all.get(call.name)?.function.parameters;
    if (wasOffered || !parameters || outcome.errorType !== "invalid_params") return outcome;
    const schema = `The parameters of '${call.name}' as a JSON Schema: ${JSON.stringify(parameters)}`;
    return { ...outcome, advice: [outcome.advice, schema].filter(Boolean).join("\n") };
  }

  #answer(call: Call, search: Search): Outcome {
    const about = typeof call.args.about === "string" ? call.args.about : "";
    const words = about.split(/[^\w.-]+/).filter((word) => word !== "");
    const named = words.filter((word) => this.#all.has(word));
    const names = named.length === words.length ? named : [...named, ...search.words(about)];
    const added = fitting([...new Set(names)], this.#all, ADDED_TOKENS, 1);
    this.#found.set(call.id, added);
    const lines = added.map((name) => `- ${name}: ${this.#describe(name)}`);
    const text =
      lines.length > 0
        ? `You can call these from now on:\n${lines.join("\n")}`
        : `No tool of this device fits '${cutText(about, DESCRIPTION_CHARS)}'. Its tools: ${namesOf([...this.#all.keys()])}.`;
    return { status: "success", text, elapsedMs: 0 };
  }

  #describe(name: string): string {
    const { description = "" } = this.#all.get(name)?.function ?? {};
    return cutText(description, DESCRIPTION_CHARS);
  }

  #add(name: string): void {
    const tool = this.#all.get(name);
    if (tool && !this.#offered.has(name)) this.#offered.set(name, tool);
  }
}

giveSearchWords(SEARCH_WORDS);

/** Ranks tools by a person's words in several languages. */
class Search {
  readonly #index = new AgentIndex();

  constructor(tools: readonly ToolDefinition[]) {
    for (const { function: tool } of tools) {
      const said = tool.description;
      const line = ENGLISH.test(said) ? said : `${said} ${topicsOf(said).topics.join(" ")}`;
      this.#index.set({ id: tool.name, line, actions: [] });
    }
  }

  /** @returns the names of the tools that fit a question, best first; general ones where none does */
  fit(question: string): string[] {
    const text =
      question.length > 2 * ASKED_CHARS
        ? `${question.slice(0, ASKED_CHARS)} ${question.slice(-ASKED_CHARS)}`
        : question;
    const ranked = this.words(text);
    if (ranked.length === 0) return GENERAL;
    const ofTopics = topicsOf(text).topics.flatMap((topic) => this.#index.search({ text: topic, limit: 1 }));
    return [...new Set([...ranked.slice(0, BEST), ...ofTopics.map(({ id }) => id), ...ranked])];
  }

  /** @returns the names of the tools that have the words, best first */
  words(text: string): string[] {
    const { topics, words } = topicsOf(text);
    const found = this.#index.search({ text: `${topics.join(" ")} ${words}`, limit: this.#index.size });
    const best = found[0]?.score ?? 0;
    return found.filter(({ score }) => score >= FITS_FROM * best).map(({ id }) => id);
  }
}

/**
 * Returns the names whose definitions fit the tokens. A large one that does not fit is passed over.
 * @param certain so many of the first are taken whatever they cost
 */
function fitting(
  names: readonly string[],
  all: ReadonlyMap<string, ToolDefinition>,
  tokens: number,
  certain = 0,
): string[] {
  let left = tokens;
  return names.filter((name, at) => {
    const tool = all.get(name);
    const cost = tool ? tokensOfTools([tool]) : Number.POSITIVE_INFINITY;
    if (!tool || (cost > left && at >= certain)) return false;
    left -= cost;
    return true;
  });
}

function moreTools(others: readonly string[]): ToolDefinition {
  return {
    type: "function",
    function: {
      name: MORE_TOOLS,
      description: `This device has more tools than are listed here: ${namesOf(others)}. Give a name, or what you need in words; the tools that fit can be called from the next step on. Call it before you say that there is no tool.`,
      parameters: {
        type: "object",
        properties: { about: { type: "string", description: "Names of tools, or what is needed" } },
        required: ["about"],
        additionalProperties: false,
      },
    },
  };
}

function namesOf(names: readonly string[]): string {
  let left = NAMES_CHARS;
  const shown = names.filter((name) => {
    left -= name.length + 2;
    return left >= 0;
  });
  const rest = names.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** @returns the calls of the device's own tools: finding a tool does nothing */
export function withoutMoreTools(calls: readonly CallRecord[]): CallRecord[] {
  return calls.filter(({ name }) => name !== MORE_TOOLS);
}

/** @returns the tokens of the tools as a request has them */
export function tokensOfTools(tools: readonly ToolDefinition[]): number {
  return textTokens(JSON.stringify(tools));
}
