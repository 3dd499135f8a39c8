/** What a rule asks a conversation to write. */
import type { Origin } from "./turns.ts";

/** A turn that a rule begins: it only reads. `tainted`: a stranger's words may have asked for the rule. `by`: its maker. */
export type Briefing = {
  id: string;
  text: string;
  tainted: boolean;
  rule: string;
  by: Pick<Origin, "principal" | "role" | "limits" | "language">;
};
