/** Which of the offered tools a question concerns, by its words alone. */
import { takesLiteral } from "./literals.ts";
import type { OfferedTool } from "./request.ts";
import { propertiesOf } from "./schema.ts";
import { splitActions, valueLines, valuesOf } from "./value-lines.ts";
import { names, type Question, stemsOf } from "./words.ts";

/** Weights: a word in a tool's name counts most, one in its description least, since prose mentions many things. */
const IN_NAME = 4;
const IN_PART_OF_NAME = 3;
const IN_VALUE = 3;
const IN_LINE_OF_VALUE = 2;
const IN_DESCRIPTION = 1;
const IN_PARAMETER = 1;
/** From here a single word is enough to call a tool. */
const STRONG = IN_LINE_OF_VALUE;

type Weights = ReadonlyMap<string, number>;

/** The tools that the question concerns, in the order offered; empty when none fits. */
export function toolsFor(question: Question, tools: readonly OfferedTool[]): OfferedTool[] {
  const candidates = tools.map((tool) => {
    const weights = toolWeights(tool);
    const weightOf = (stem: string) => weights.get(stem) ?? partOfName(tool, stem);
    return { tool, weightOf, total: totalOf(question, weightOf), votes: 0 };
  });

  const vote = (stem: string, among: typeof candidates) => {
    const weight = Math.max(0, ...among.map((candidate) => candidate.weightOf(stem)));
    if (weight === 0) return;
    const most = among.filter((candidate) => candidate.weightOf(stem) === weight);
    const total = Math.max(...most.map((candidate) => candidate.total));
    for (const candidate of most) {
      if (candidate.total === total) candidate.votes = Math.max(candidate.votes, weight);
    }
  };
  for (const stem of question.stems) vote(stem, candidates);
  for (const stem of question.generic) {
    vote(
      stem,
      candidates.filter(
        ({ tool, weightOf }) =>
          takesLiteral(tool.parameters, question.literals) ||
          [...question.stems].some((other) => weightOf(other) >= IN_PART_OF_NAME),
      ),
    );
  }

  const strong = candidates.filter((candidate) => candidate.votes >= STRONG);
  if (strong.length > 0) return strong.map(({ tool }) => tool);
  const best = candidates.filter((candidate) => candidate.votes > 0).sort((a, b) => b.total - a.total)[0];
  return best ? [best.tool] : [];
}

function totalOf(question: Question, weightOf: (stem: string) => number): number {
  let total = 0;
  for (const stem of question.stems) total += weightOf(stem);
  for (const stem of question.generic) total += weightOf(stem) / 2;
  return total;
}

function toolWeights(tool: OfferedTool): Weights {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const stem of stemsOf(text)) weights.set(stem, Math.max(weight, weights.get(stem) ?? 0));
  };
  const lines = valueLines(tool);
  add(tool.name, IN_NAME);
  add(lines.rest, IN_DESCRIPTION);
  for (const [name, schema] of propertiesOf(tool.parameters)) {
    add(name, IN_PARAMETER);
    for (const value of valuesOf(schema)) {
      add(value, IN_VALUE);
      add(lines.of.get(value) ?? "", IN_LINE_OF_VALUE);
    }
  }
  return weights;
}

/** `websearch` matches "search the web", because names are often written as one word. */
function partOfName(tool: OfferedTool, stem: string): number {
  if (stem.length < 3) return 0;
  const meets = stemsOf(tool.name).some(
    (token) => token.length >= 6 && (token.startsWith(stem) || token.endsWith(stem)),
  );
  return meets ? IN_PART_OF_NAME : 0;
}

/**
 * Which values of an enumeration the question concerns: all that it names, or else the one whose name and
 * line meet it best. Empty when nothing speaks for any of several.
 */
export function chooseValues(question: Question, tool: OfferedTool, values: readonly string[]): string[] {
  const named = values.filter((value) => names(question.text, value));
  if (named.length > 0) return named;
  const lines = valueLines(tool).of;
  const stems = values.map((value) => new Set(stemsOf(value)));
  const scored = values.map((value, index) => {
    // What agents have in common (their actions, "pi" in every id) counts less than what one alone has.
    const { text, actions } = splitActions(lines.get(value) ?? "");
    const own = stems[index] ?? new Set();
    const inText = new Set(stemsOf(text));
    const inActions = new Set(stemsOf(actions.join(" ")));
    let score = 0;
    for (const stem of [...question.stems, ...question.generic]) {
      const shared = stems.filter((other) => other.has(stem)).length > 1;
      if (own.has(stem) && !shared) score += IN_NAME;
      else if (inText.has(stem)) score += IN_LINE_OF_VALUE;
      else if (inActions.has(stem)) score += IN_DESCRIPTION;
    }
    return { value, score };
  });
  const best = scored.reduce<{ value: string; score: number } | undefined>(
    (top, next) => (next.score > (top?.score ?? 0) ? next : top),
    undefined,
  );
  if (best) return [best.value];
  return values.length === 1 ? [...values] : [];
}
