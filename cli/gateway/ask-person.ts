/** Asks the person at the terminal a question or for an approval. */
import { createInterface } from "node:readline";
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

/** The whole text of an approval: a person who approves must have seen what will be run. */
export function questionText(
  { agent, text, options, approval, asks }: Question,
  paint: Paint,
  whole = true,
): string {
  const who = paint("bold", printableLine(agent, 64));
  if (!approval) {
    const listed = options.map((option, index) => `  ${index + 1}  ${printableLine(option)}\n`).join("");
    return `\n${who} asks: ${printable(text)}\n${listed}`;
  }
  const where = approval.cwd === undefined ? "" : `  in ${shownValue(approval.cwd, whole)}\n`;
  const parameters = Object.entries(approval.parameters).map(
    ([name, value]) => `  ${printable(name).replaceAll("\n", "\\n")}: ${shownValue(value, whole)}\n`,
  );
  const notice = hiddenNotice(approval);
  const hidden = notice === undefined ? "" : `  ${paint("yellow", notice)}\n`;
  return (
    `\n${who} wants to run ${paint("yellow", printableLine(approval.tool))}\n` +
    `${parameters.join("")}${where}  why it asks: ${printableLine(approval.reason)}\n${describeUnread(approval)}${hidden}${describeApprovers(asks)}`
  );
}

/** The person's own token may not approve: the words say who was asked. */
function describeApprovers(asks: Question["asks"]): string {
  if (asks === undefined) return "";
  const who =
    asks.length > 0 ? asks.map((one) => printableLine(one, 100)).join(", ") : "nobody could be told";
  return `  your token may not approve; asked: ${who}\n`;
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
  if (approval)
    return seen
      ? approval.unread
        ? "approve? [y/n/accept] "
        : "approve? [y/n] "
      : "show all of it, or deny? [all/n] ";
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
