/** How the parts of a home's object get at it. */
import type { HomeContext } from "./context.ts";

export type HomeAccess = {
  /** Makes the tables when they are needed. */
  readonly home: HomeContext;
  /** True if the home has no row that could let anybody in. Methods that a stranger can reach look at it first. */
  readonly isBlank: boolean;
};
