/** The bounds of a template, which comes from anything that can publish on the broker. */

const STEPS = 10_000;
const STEPS_A_SECOND = 100_000;
/** Characters of the output, and of each text on the way to it. */
const TEXT_MAX = 65_536;
/** One step pays for so many characters that are read or made. */
const CHARACTERS_A_STEP = 128;
/** One step pays for so many comparisons of characters. */
const COMPARISONS_A_STEP = 4_096;
const DEPTH_MAX = 100;

/** The reason, in words, that a template cannot be read or rendered. The sentence begins with "The template". */
export class TemplateProblem extends Error {}

/** Steps that several templates share, such as all that read one message. */
export class SharedBudget {
  readonly #max: number;
  #spent = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Nothing more can be done with it. */
  get isSpent(): boolean {
    return this.#spent > this.#max;
  }

  get problem(): string {
    return `is not rendered: the templates of this message take more than ${this.#max} steps`;
  }

  /** Throws a TemplateProblem when there is too much. */
  spend(steps: number): void {
    const problem = this.refuse(steps);
    if (problem !== undefined) throw new TemplateProblem(problem);
  }

  /** The same for work beside a template. @returns why it is not done; undefined: it is paid for */
  refuse(steps: number): string | undefined {
    this.#spent += steps;
    return this.isSpent ? this.problem : undefined;
  }
}

/** Limits the time that all messages together take of the bridge. A message that takes more than is left delays those after it. */
export class WorkRate {
  #left = STEPS_A_SECOND;
  #at = 0;

  /** @param now epoch ms */
  isLeft(now: number): boolean {
    const seconds = Math.max(0, now - this.#at) / 1_000;
    this.#left = Math.min(STEPS_A_SECOND, this.#left + seconds * STEPS_A_SECOND);
    this.#at = now;
    return this.#left > 0;
  }

  /** @returns steps that are left; below 0 they are owed */
  spend(steps: number): number {
    this.#left -= steps;
    return this.#left;
  }
}

/** Counts the work of one template; each method throws a TemplateProblem when there is too much. */
export class TemplateBudget {
  readonly #shared: SharedBudget | undefined;
  #left = STEPS;
  #depth = 0;

  constructor(shared?: SharedBudget) {
    this.#shared = shared;
  }

  spend(steps = 1): void {
    this.#left -= steps;
    this.#shared?.spend(steps);
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
    this.compares(text.length * part.length);
  }

  /** Pays for so many comparisons of characters. */
  compares(count: number): void {
    this.spend(Math.floor(count / COMPARISONS_A_STEP));
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
