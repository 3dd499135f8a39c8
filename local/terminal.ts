/** Asks the person at the terminal. */
import { createInterface } from "node:readline/promises";

/** @returns what was typed, without white space around it @throws when Ctrl-C is pressed */
export async function askLine(question: string, { hidden = false } = {}): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  const ended = new Promise<never>((_, reject) =>
    lines.once("SIGINT", () => reject(new Error("stopped; nothing was changed"))),
  );
  try {
    const answer = lines.question(question);
    if (hidden) {
      // The question is written by now; the typed answer is not shown.
      (lines as unknown as { _writeToOutput(text: string): void })._writeToOutput = () => {};
    }
    return (await Promise.race([answer, ended])).trim();
  } finally {
    lines.close();
    if (hidden) process.stderr.write("\n");
  }
}

/** Enter is a yes. */
export async function confirm(question: string): Promise<boolean> {
  const answer = await askLine(`${question} [Y/n] `);
  return answer === "" || /^y/i.test(answer);
}
