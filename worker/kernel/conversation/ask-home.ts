/** Calls of the tools that Home runs. One that waits is parked like a device's, and Home is asked again at its deadline. */
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { logError, logInfo } from "../log.ts";
import type { Settings } from "../settings/settings.ts";
import type { ConversationContext } from "./context.ts";
import type { ConversationTools } from "./feature.ts";
import { noteOf } from "./planned.ts";
import { applyResult, settleCall } from "./settle-call.ts";
import type { StoredCall, Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { traceOfCall } from "./trace.ts";

/** The language in which the person asked; undefined: not known. */
export function languageOf({ transcript }: ConversationContext, { n, origin }: Turn): Language | undefined {
  return noteOf(transcript.entriesOf(n))?.language ?? origin.language;
}

/** @param tools those that have it; undefined: it is the kernel's own @returns the call, when Home did not answer */
export async function askHome(
  context: ConversationContext,
  turn: Turn,
  call: StoredCall,
  tools: ConversationTools | undefined,
  { sources, settings }: { sources: readonly Source[]; settings: Settings },
): Promise<StoredCall | undefined> {
  const { id, problem } = call;
  const { name: tool, args } = tools?.meant?.(call) ?? call;
  const { transcript, sent, name } = context;
  const { principal, role, channel, privateChat, limits, model, session, reply: place } = turn.origin;
  context.unsent.delete(id);
  const at = sent.get(id)?.at ?? Date.now();
  const language = languageOf(context, turn);
  const beside = tools?.beside?.(context, turn, call, settings);
  try {
    const reply = await context.home().calls.runTool({
      id,
      name: tool,
      args,
      ...(problem !== undefined && { problem }),
      viewer: { name: principal, role, scopes: ["ask"] },
      from: {
        conversation: name,
        privateChat,
        call: id,
        depth: session?.depth ?? 0,
        others: hasOthers(transcript, turn),
      },
      origin: {
        principal,
        role,
        channel,
        ...(limits && { limits }),
        ...(place && { reply: place }),
        ...(model !== undefined && { model }),
        ...traceOfCall(context, turn, id),
      },
      sources: [...sources],
      ...(language && { language }),
      ...beside,
    });
    if ("outcome" in reply && reply.outcome.media) await applyResult(context, id, reply.outcome);
    else if ("outcome" in reply) settleCall(context, id, reply.outcome);
    // It may have ended before the reply.
    else if (!transcript.call(id)?.outcome)
      sent.set(id, { at, deadline: Math.max(reply.waitsUntil, sent.get(id)?.deadline ?? 0) });
    if (transcript.turn(turn.id)?.error === "cancelled") await tools?.cancel?.(context, call);
    logInfo("call.asked_home", { turn: turn.id, call: id, tool, waits: "waitsUntil" in reply });
    return undefined;
  } catch (error) {
    logError("home_tool.failed", error, { turn: turn.id, call: id, tool });
    return call;
  }
}

/** True if others than this turn's person wrote in the conversation: they would see the answer, and may have asked for it. */
export function hasOthers(transcript: Transcript, { origin }: Turn): boolean {
  return transcript.turns().some((turn) => turn.origin.principal !== origin.principal);
}
