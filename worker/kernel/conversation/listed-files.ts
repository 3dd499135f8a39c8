/** Tells Home which pictures and files a device sent, for its list of them. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { ConversationContext } from "./context.ts";
import { ONE_SHOT_KEEP_MS } from "./one-shot.ts";
import { filesOf } from "./store/media.ts";
import type { StoredCall } from "./store/rows.ts";

/** Nothing waits for it: a file whose list entry is lost in a crash is in its answer all the same. */
export function listFiles(
  context: ConversationContext,
  { args }: Pick<StoredCall, "args">,
  outcome: Outcome,
): void {
  const { media, transcript, isOneShot } = context;
  const kept = media.keptOf(filesOf(outcome), isOneShot ? ONE_SHOT_KEEP_MS : undefined);
  if (kept.length === 0) return;
  const { agent_id, action } = args as { agent_id?: unknown; action?: unknown };
  const agent = outcome.routed?.agent ?? String(agent_id);
  const from = { agent, action: typeof action === "string" ? action : null };
  const by = transcript.beganBy();
  context.later(context.home().files.addFiles({ files: kept.map((file) => ({ ...file, ...from })), by }));
}
