/** A question only reads. What changes something is called only for an order that names it: `Lock the front door`. */
import { isOwnRead } from "@edgecall/core/tools/own-names.ts";
import type { OfferedTool } from "./request.ts";
import { splitActions, valueLines, valuesOf } from "./value-lines.ts";
import { type Question, stemsOf } from "./words.ts";

/** Stand before an order's verb. */
const BEFORE = new Set([
  "please",
  "now",
  "hey",
  "ok",
  "okay",
  "then",
  "and",
  "just",
  "kindly",
  "hi",
  "hello",
]);
/** A sentence with one of these is a question, or says more than words alone tell. */
const NO_ORDER =
  /[?？]|\b(?:if|whether|when|whenever|unless|until|while|why|how|what|which|who|not|never|no|or|should|would|could|can|did|was|were|is|are|has|have)\b|n['’]t\b/i;
/** Verbs that name no tool by themselves. */
const RUNS = new Set(["run", "execute"]);

const READ_VERBS = new Set(
  "check count describe fetch find get info list look query read search show state status view".split(" "),
);
const READS = /^(?:Finds|Gets|Lists|Reads|Returns|Searches|Shows|Tells)\b/;

/** The verb of an order, which is its first word; undefined: it is none. */
function verbOf(text: string): string | undefined {
  if (NO_ORDER.test(text)) return undefined;
  return wordsOf(text).find((word) => !BEFORE.has(word));
}

/** Tells whether a tool or action only reads, by its name or description. */
export function isRead(name: string, description = ""): boolean {
  return isOwnRead(name) || READ_VERBS.has(tokensOf(name)[0] ?? "") || READS.test(description);
}

/** Tells whether an order names this tool or action: its verb is in the name, and the rest of the name in the sentence. */
function isOrdered({ text }: Question, name: string): boolean {
  const verb = verbOf(text);
  const tokens = tokensOf(name);
  const words = new Set(wordsOf(text));
  return verb !== undefined && tokens.includes(verb) && tokens.every((token) => words.has(token));
}

/** The tools that a sentence may call: those that read, that ask an agent, and those that it orders. */
export function allowedTools(question: Question, tools: readonly OfferedTool[]): OfferedTool[] {
  const isRun = RUNS.has(verbOf(question.text) ?? "");
  return tools.filter(
    ({ name, description }) =>
      name === "edge_call" ||
      isRead(name, description) ||
      isOrdered(question, name) ||
      (isRun && name === "bash"),
  );
}

/**
 * The action of a device that an order names. Every word of the order has to be known, since `Lock the garage` is nothing for another door.
 * @param line what is told of the device
 * @returns undefined: it names none, or several
 */
export function orderedAction(question: Question, agent: string, line: string): string | undefined {
  const { text, actions } = splitActions(line);
  const named = actions.filter((name) => !isRead(name) && isOrdered(question, name));
  const longest = Math.max(0, ...named.map((name) => tokensOf(name).length));
  const [action, ...others] = named.filter((name) => tokensOf(name).length === longest);
  if (action === undefined || others.length > 0) return undefined;
  const known = new Set([...stemsOf(`${agent} ${text} ${action}`), ...BEFORE]);
  return stemsOf(question.text).every((stem) => known.has(stem) || /^\d/.test(stem)) ? action : undefined;
}

/** The devices that have what an order names. */
export function orderedAgents(
  question: Question,
  tool: OfferedTool,
  schema: Record<string, unknown>,
): string[] {
  const lines = valueLines(tool).of;
  const able = valuesOf(schema).filter(
    (agent) => orderedAction(question, agent, lines.get(agent) ?? "") !== undefined,
  );
  // `front-door` and not `door` as well, where both are devices. The words fit one alone, or it is not clear which is meant.
  const most = Math.max(
    0,
    ...able.map((agent) => stemsOf(agent).filter((stem) => question.stems.has(stem)).length),
  );
  const best = able.filter(
    (agent) => stemsOf(agent).filter((stem) => question.stems.has(stem)).length === most && most > 0,
  );
  return best.length === 1 ? best : [];
}

/** Tells whether a sentence orders something of any device. */
export function ordersAction(question: Question, tool: OfferedTool): boolean {
  return [...valueLines(tool).of.values()].some((line) =>
    splitActions(line).actions.some((name) => !isRead(name) && isOrdered(question, name)),
  );
}

function tokensOf(name: string): string[] {
  return wordsOf(name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
