/** Asks the person at the terminal a question or for an approval. */
import { createInterface } from "node:readline";
import { approvalText } from "@edgecall/core/approvals/approval-text.ts";
import { askedText } from "@edgecall/core/phrases/asked-text.ts";
import { headAndTail, hiddenNotice, shortened, visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import type { Paint } from "./paint.ts";
import { printable, printableLine } from "./printable.ts";
import type { Question } from "./shapes.ts";

export type Terminal = {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  paint: Paint;
  /** Called at Ctrl-C, which is no signal while the terminal is read. */
  onInterrupt(): void;
};

/**
 * @param signal fires when somebody else answered, or the turn ended
 * @returns the answer for the gateway; undefined when the person gave none
 */
export async function askPerson(
  question: Question,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  let seen = !isCut(question);
  terminal.output.write(questionText(question, terminal.paint, seen));
  for (;;) {
    const line = await readLine(terminal, prompt(question, seen), signal);
    if (line === undefined) return undefined;
    const answer = readAnswer(question, line);
    if (!seen && /^\s*all\s*$/i.test(line)) {
      seen = true;
      terminal.output.write(questionText(question, terminal.paint, seen));
    } else if (!seen && (answer === "approve" || answer === "accept"))
      terminal.output.write("not all of it is shown yet: type 'all' first\n");
    else if (answer !== undefined) return answer;
    else terminal.output.write(`please answer ${wanted(question, seen)}\n`);
  }
}

/** True if an approval is too long to be shown at once. */
function isCut({ approval }: Question): boolean {
  if (ruleLines(approval)) return false;
  const values = approval ? [...Object.values(approval.parameters), approval.cwd ?? ""] : [];
  return values.some((value) => headAndTail(textOf(value), SHOWN) !== undefined);
}

const SHOWN = { chars: 2_000, lines: 40 };

/** Turns typed text into an answer for the gateway; undefined: it is no answer. */
export function readAnswer({ approval, options }: Question, line: string): string | undefined {
  const typed = line.trim();
  if (approval) {
    if (/^(y|yes|a|approve)$/i.test(typed)) return "approve";
    if (approval.unread && /^accept$/i.test(typed)) return "accept";
    return /^(n|no|d|deny)$/i.test(typed) ? "deny" : undefined;
  }
  if (options.length === 0) return typed || undefined;
  const chosen = /^\d{1,3}$/.test(typed) ? options[Number(typed) - 1] : undefined;
  return chosen ?? options.find((option) => option.toLowerCase() === typed.toLowerCase());
}

function wanted({ approval, options }: Question, seen: boolean): string {
  if (approval)
    return seen ? (approval.unread ? "y, n or accept" : "y or n") : "n, or 'all' to see everything first";
  return options.length > 0 ? `with a number from 1 to ${options.length}` : "in a few words";
}

/** The question itself. An older gateway wrote the arguments below it. */
export function sentenceOf(text: string): string {
  return printableLine(text.split("\n", 1)[0] ?? "");
}

/** The whole text of an approval: a person who approves must have seen what will be run. */
export function questionText(
  { agent, text, options, approval, asked }: Question,
  paint: Paint,
  whole = true,
): string {
  if (!approval) {
    const who = paint("bold", printableLine(agent, 64));
    const listed = options.map((option, index) => `  ${index + 1}  ${printableLine(option)}\n`).join("");
    return `\n${who} asks: ${printable(text)}\n${listed}`;
  }
  const { card } = approval;
  const { marks = [], facts = [] } = card ?? {};
  // Only questions of the person's own turns come here.
  const asker = card?.own?.text ?? card?.asker;
  const known = [
    ...(asker === undefined ? [] : [asker]),
    ...facts.map(({ label, text }) => `${label}: ${text}`),
  ]
    .map((line) => `  ${printableLine(line)}\n`)
    .join("");
  // A card has it among what is known.
  const where = approval.cwd === undefined || card ? "" : `  in ${shownValue(approval.cwd, whole)}\n`;
  const marked = marks
    .map(({ line, why }) => `  ${paint("red", `line ${line + 1}: ${printableLine(why)}`)}\n`)
    .join("");
  const parameters = argumentLines(approval, whole);
  const notice = hiddenNotice({ ...approval, card: undefined });
  const hidden = notice === undefined ? "" : `  ${paint("yellow", notice)}\n`;
  return (
    `\n${paint("bold", sentenceOf(text))}\n${known}` +
    `${parameters.join("")}${where}${marked}  why it asks: ${printableLine(approval.reason)}\n${describeUnread(approval)}${hidden}${describeApprovers(asked)}`
  );
}

/** What would be run: a line where the sentence says all of it, else each value, and a script as its lines. */
function argumentLines(approval: NonNullable<Question["approval"]>, whole: boolean): string[] {
  const { parameters, card } = approval;
  const ofRule = ruleLines(approval);
  if (ofRule) return ofRule;
  const { lines, rest } = approvalText({ approval }, undefined);
  if (lines) {
    const script = whole ? lines.join("\n") : shortened(lines.join("\n"), SHOWN);
    const text = `    ${script.replaceAll("\n", "\n    ")}\n`;
    return [text, ...(rest === "" ? [] : [`  with: ${rest}\n`])];
  }
  if (card && !card.partial && rest.length <= SHOWN.chars) return [`  exactly: ${rest}\n`];
  return Object.entries(parameters).map(
    ([name, value]) => `  ${printable(name).replaceAll("\n", "\\n")}: ${shownValue(value, whole)}\n`,
  );
}

/** The sentences of a rule that acts, which the gateway makes of what is signed. @returns undefined: it is about something else */
function ruleLines(approval: Question["approval"]): string[] | undefined {
  const { lines = [], danger } = approval?.card ?? {};
  if (lines.length === 0) return undefined;
  const tap = danger ? ["This may do harm, so it asks twice:"] : [];
  return [...tap, ...lines].map((line) => `  ${printableLine(line)}\n`);
}

/** Who else was asked. Empty: the person's own token may not approve, and nobody could be told. */
function describeApprovers(asked: Question["asked"]): string {
  if (asked === undefined) return "";
  const who = asked.length > 0 ? askedText(asked) : "Your token may not approve, and nobody could be told.";
  return `  ${printableLine(who)}\n`;
}

/** "accept" also accepts these texts, so that nothing is asked for them again. */
function describeUnread({ unread = [] }: NonNullable<Question["approval"]>): string {
  return unread
    .map(({ agent, line, was, actions }) => {
      const now =
        line === undefined ? "" : `  ${printableLine(agent, 64)} says of itself: ${printableLine(line)}\n`;
      const before = was === undefined ? "" : `    accepted before: ${printableLine(was)}\n`;
      const names =
        actions.length === 0
          ? ""
          : `  ${printableLine(agent, 64)} offers: ${printableLine(actions.join(", "))}\n`;
      return `${now}${before}${names}`;
    })
    .concat(unread.length > 0 ? ["  'accept' accepts that for good, and approves\n"] : [])
    .join("");
}

/** Shows a command of several lines as lines. */
function shownValue(value: unknown, whole: boolean): string {
  const text = textOf(value);
  return (whole ? text : shortened(text, SHOWN)).replaceAll("\n", "\n    ");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? visible(value) : visibleJson(value);
}

function prompt({ approval, options }: Question, seen: boolean): string {
  const verb = printableLine(approval?.card?.verb ?? "approve", 64);
  if (approval)
    return seen
      ? approval.unread
        ? `${verb}? [y/n/accept] `
        : `${verb}? [y/n] `
      : "show all of it, or no? [all/n] ";
  return options.length > 0 ? "number: " : "answer: ";
}

/** @returns a line; undefined at the input's end, at Ctrl-C, or when the signal fires */
function readLine(
  { input, output, onInterrupt }: Terminal,
  words: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = createInterface({ input, output, terminal: true });
    const end = (line: string | undefined) => {
      signal.removeEventListener("abort", close);
      resolve(line);
      reader.close();
    };
    const close = () => {
      output.write("\n");
      end(undefined);
    };
    if (signal.aborted) return close();
    signal.addEventListener("abort", close);
    reader.on("SIGINT", () => {
      onInterrupt();
      close();
    });
    reader.on("close", () => end(undefined));
    reader.question(words, end);
  });
}
