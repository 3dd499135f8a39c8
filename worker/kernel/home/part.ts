/** The methods of a home about one topic. Over RPC they are `topic.method`: one request, and a trace names the topic. */
import type { HomeContext } from "./context.ts";

/** The object to its parts. */
export type HomeAccess = {
  /** Makes the tables when they are needed. */
  readonly home: HomeContext;
  /** True if the home has no row that could let anybody in. Methods that a stranger can reach look at it first. */
  readonly isBlank: boolean;
};

export abstract class HomePart {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    this.#at = at;
  }

  /** Makes the tables when they are needed. */
  protected get home(): HomeContext {
    return this.#at.home;
  }

  /** True if the home has no row that could let anybody in. Methods that a stranger can reach look at it first. */
  protected get isBlank(): boolean {
    return this.#at.isBlank;
  }
}
