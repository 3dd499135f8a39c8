/** The log of the programs of `edgecall start`, at the person's terminal. */

/** Lines that are held back, enough to see why there is no answer. */
const LINES_KEPT = 50;
/** The terminal's sign for: to the line's beginning, and nothing on it any more. */
const CLEAR_LINE = "\r\x1b[K";

/** @property isTTY the sink is a terminal, whose last line can be written anew */
type Sink = { write(text: string): void; isTTY?: boolean };

export class ProgramLog {
  readonly #sink: Sink;
  /** Absent: lines are shown as they come. */
  #held: string[] | undefined;
  /** A question that waits for its answer on the last line. */
  #question = "";

  /** @param holdsBack as with `--ask`: the lines are shown when there is no answer */
  constructor(holdsBack: boolean, sink: Sink = process.stderr) {
    this.#held = holdsBack ? [] : undefined;
    this.#sink = sink;
  }

  say(name: string, line: string): void {
    const text = `[${name}] ${line}`;
    if (this.#held) this.#held = [...this.#held.slice(-LINES_KEPT), text];
    else this.#show(text);
  }

  /** Shows what was held back, and holds back no more. */
  show(): void {
    for (const text of this.#held ?? []) this.#show(text);
    this.#held = undefined;
  }

  /** Keeps a question the last line until it is answered: what programs say meanwhile comes above it. */
  async below<T>(question: string, answered: Promise<T>): Promise<T> {
    this.#question = this.#sink.isTTY ? question.trimStart() : "";
    try {
      return await answered;
    } finally {
      this.#question = "";
    }
  }

  #show(text: string): void {
    const question = this.#question;
    this.#sink.write(question === "" ? `${text}\n` : `${CLEAR_LINE}${text}\n${question}`);
  }
}
