/** The sources of the texts in an entry of a conversation. core/loop/taint.ts says whether they taint a call. */
import { agentOfCall, type Outcome } from "@edgecall/core/loop/history.ts";
import { agentSource, joinSources, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { EDGE_CALL } from "../../api/edge-call.ts";
import type { StoredCall, StoredEntry } from "./rows.ts";

/** The person's words are theirs, a picture of theirs is what somebody else may have written. */
export function sourcesOf(entries: readonly StoredEntry[]): Source[] {
  return joinSources(
    ...entries.map((entry): Source[] => {
      if (entry.role === "user") return entry.images?.length ? [STRANGER] : [];
      // A note's source stands in its turn's row.
      if (entry.role !== "assistant") return [];
      return joinSources(
        ...entry.calls.map((call) => (call.outcome ? outcomeSources(call, call.outcome) : [])),
      );
    }),
  );
}

/** An outcome that does not say whose it is holds the words of whoever was called. */
export function outcomeSources({ name, args }: StoredCall, outcome: Outcome): Source[] {
  if (outcome.sources) return outcome.sources;
  const agent = agentOfCall({ args, outcome });
  if (name !== EDGE_CALL || agent === undefined) return [STRANGER];
  const agents = agentSource(agent);
  // Version 0.2 wrote whether a stranger's text is in it, and not whose words it holds.
  const { tainted } = outcome as Outcome & { tainted?: boolean };
  return tainted === true ? [agents, STRANGER] : [agents];
}
