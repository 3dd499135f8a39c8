/** The methods of a home about one topic. Over RPC they are `topic.method`: one request, and a trace names the topic. */
import type { PartOf } from "../rpc-topics.ts";
import type { HomeContext } from "./context.ts";

/** The object to its parts. */
export type HomeAccess = {
  /** Makes the tables when they are needed. */
  readonly home: HomeContext;
  /** True if the home has no row that could let anybody in. Methods that a stranger can reach look at it first. */
  readonly isBlank: boolean;
};

export type HomePart<Api> = PartOf<HomeAccess, Api>;
