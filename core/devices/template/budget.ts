/** The bounds of a template, which comes from whoever can publish on the broker. */

const STEPS = 10_000;
/** Characters of the output, and of each text on the way to it. */
const TEXT_MAX = 65_536;
/** One step pays for so many characters that are read or made. */
const CHARACTERS_A_STEP = 128;
const DEPTH_MAX = 100;

/** The reason, in words, that a template cannot be read or rendered. The sentence begins with "The template". */
export class TemplateProblem extends Error {}

/** Counts the work of one template; each method throws a TemplateProblem when there is too much. */
export class TemplateBudget {
  #left = STEPS;
  #depth = 0;

  spend(steps = 1): void {
    this.#left -= steps;
    if (!(this.#left >= 0)) throw new TemplateProblem(`takes more than ${STEPS} steps`);
  }

  /** Pays for a text that is made or read. */
  text(text: string): string {
    this.reserve(text.length);
    return text;
  }

  /** Pays for a text of this length before it is made. */
  reserve(length: number): void {
    if (!(length <= TEXT_MAX)) throw new TemplateProblem(`makes a text of more than ${TEXT_MAX} characters`);
    this.spend(Math.floor(length / CHARACTERS_A_STEP));
  }

  /** Pays for looking for a part in a text, which in the worst case compares each with each. */
  search(text: string, part: string): void {
    this.spend(Math.floor((text.length * part.length) / TEXT_MAX));
  }

  /** Runs what calls itself again for the parts of a value or expression. */
  deeper<T>(run: () => T): T {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new TemplateProblem(`has more than ${DEPTH_MAX} levels`);
    const result = run();
    this.#depth -= 1;
    return result;
  }
}
