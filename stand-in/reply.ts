/** Makes the stand-in's reply to a request: tool calls or an answer. Pure. */
import { answerFrom, resultsIn } from "./answer.ts";
import { fillArguments } from "./fill.ts";
import { toolsFor } from "./match.ts";
import { allowedTools } from "./orders.ts";
import { type ChatRequest, type Message, type OfferedTool, offeredTools, textOf } from "./request.ts";
import { corrected, ruleWish, timeIn } from "./rule-words.ts";
import { propertiesOf } from "./schema.ts";
import { valuesOf } from "./value-lines.ts";
import { names, type Question, readQuestion, stemsOf } from "./words.ts";

/** More calls than this in one reply would be guessing. */
const MAX_CALLS = 5;

const OFFLINE = /\b(?:offline|not online|last seen)\b/i;

type WantedCall = { name: string; arguments: string };
export type StandInReply = { text: string; calls: WantedCall[] };

/** The tool loop's request to sum up is not a question of the person's. */
const SUM_UP = /answer now, without tools/i;
/** What a briefing asks for stands below the gateway's words. */
const BRIEFING = /^.*It is time for the briefing.*They asked for:\n/is;
/** A rule is tried again this often, by what the gateway says of it. */
const TRIES = 4;

export function replyTo(request: ChatRequest): StandInReply {
  const { messages } = request;
  const isQuestion = (message: Message) => message.role === "user" && !SUM_UP.test(textOf(message.content));
  const at = messages.findLastIndex(isQuestion);
  const question = readQuestion(textOf(messages[at]?.content).replace(BRIEFING, ""));
  const since = messages.slice(at + 1);
  const results = resultsIn(since);
  const rule = rulesAfter(question, since);
  if (rule) return rule;
  if (results.length > 0) return { text: answerFrom(results), calls: [] };

  if (messages.slice(at + 1).some((message) => SUM_UP.test(textOf(message.content)))) {
    return { text: "I have no results to answer from: no tool was asked.", calls: [] };
  }
  const tools = offeredTools(request);
  const wish = ruleWish(question, tools, timeIn(textOf(messages[0]?.content)));
  if (!wish) return ask(question, tools, knownLines(messages));
  if ("missing" in wish) return { text: wish.missing, calls: [] };
  const { name } = wish;
  return { text: "", calls: wish.calls.map((args) => ({ name, arguments: JSON.stringify(args) })) };
}

/** After a call that makes a rule: the same with what the gateway's error names, or what came of it. */
function rulesAfter(question: Question, messages: readonly Message[]): StandInReply | undefined {
  const asked = messages.filter(({ tool_calls }) =>
    tool_calls?.some(({ function: { name } }) => isRule(name)),
  );
  const calls = asked.at(-1)?.tool_calls ?? [];
  if (calls.length === 0) return undefined;
  const said = calls.map((call) => ({
    call,
    text: textOf(messages.find(({ tool_call_id }) => tool_call_id === call.id)?.content),
  }));
  const failed = said.filter(({ text }) => text.startsWith("Error"));
  const again = failed.flatMap(({ call: { function: call }, text }) => {
    // SAFETY: these arguments are this model's own, of `ruleWish`.
    const args = corrected(question, JSON.parse(call.arguments ?? "{}") as Record<string, unknown>, text);
    return args ? [{ name: call.name, arguments: JSON.stringify(args) }] : [];
  });
  if (again.length > 0 && asked.length < TRIES) return { text: "", calls: again };
  return { text: failed.length > 0 ? failed.map(({ text }) => text).join("\n") : "It is set.", calls: [] };
}

function isRule(name: string): boolean {
  return name === "watch" || name === "remind";
}

function ask(question: Question, tools: readonly OfferedTool[], known: readonly KnownLine[]): StandInReply {
  const values = new Set(
    tools.flatMap((tool) => propertiesOf(tool.parameters).flatMap(([, s]) => valuesOf(s))),
  );
  const named = [...values].some((value) => names(question.text, value));
  const absent = known.filter(
    (line) => OFFLINE.test(line.text) && !values.has(line.id) && names(question.text, line.id),
  );
  // The question names an unknown agent. Asking another agent would answer another question.
  if (absent.length > 0 && !named) return { text: absent.map((line) => line.text).join("\n"), calls: [] };

  const allowed = allowedTools(question, tools);
  const fitting = toolsFor(question, allowed).map((tool) => ({
    tool,
    filled: fillArguments(question, tool),
  }));
  const calls = fitting.flatMap(({ tool, filled }) =>
    filled.ok ? filled.calls.map((args) => ({ name: tool.name, arguments: JSON.stringify(args) })) : [],
  );
  if (calls.length > 0) return { text: "", calls: calls.slice(0, MAX_CALLS) };
  const unfilled = fitting.flatMap(({ tool, filled }) =>
    filled.ok ? [] : [`${tool.name} would fit, but needs ${filled.missing.join(" and ")}.`],
  );
  return { text: noToolFits(question, tools, known, unfilled), calls: [] };
}

function noToolFits(
  question: Question,
  tools: readonly OfferedTool[],
  known: readonly KnownLine[],
  unfilled: readonly string[],
): string {
  const offered = tools.map((tool) => {
    const values = propertiesOf(tool.parameters).flatMap(([, schema]) => valuesOf(schema));
    return values.length > 0 ? `${tool.name} (${values.join(", ")})` : tool.name;
  });
  const related = known
    .filter((line) => stemsOf(line.text).some((stem) => question.stems.has(stem)))
    .map((line) => line.text);
  return [
    "I am the stand-in model: I match words, I do not understand them, and no tool fits the words of this question.",
    ...unfilled,
    offered.length > 0
      ? `Offered are: ${offered.join(", ")}; name one in your question.`
      : "No tools are offered.",
    ...(related.length > 0 ? [`What I was told: ${related.join("; ")}`] : []),
  ].join(" ");
}

type KnownLine = { id: string; text: string };

/** Lines of the system prompt that tell of somebody (`- garage: offline, last seen …`). */
function knownLines(messages: readonly Message[]): KnownLine[] {
  return messages
    .filter((message) => message.role === "system" || message.role === "developer")
    .flatMap((message) => textOf(message.content).split("\n"))
    .flatMap((line) => {
      const match = /^\s*[-*]\s+`?([A-Za-z0-9_-]{1,64})`?\s*[:(,—–]/.exec(line);
      return match?.[1] ? [{ id: match[1], text: line.replace(/^\s*[-*]\s+/, "").trim() }] : [];
    });
}
