/** A call of a model as a span. */
import { childOf, type SpanContext } from "../trace/context.ts";
import type { Tracer } from "../trace/tracer.ts";
import type { ModelReply } from "./model-reply.ts";
import { ModelError } from "./retry.ts";

/** @param above absent: it is not recorded @param model its name in the settings */
export async function traceModelCall(
  tracer: Tracer | undefined,
  above: SpanContext | undefined,
  model: string,
  call: () => Promise<ModelReply>,
): Promise<ModelReply> {
  if (!above) return await call();
  const startMs = Date.now();
  const ended = (usage: ModelReply["usage"], error?: string) =>
    tracer?.add({
      context: childOf(above),
      parentId: above.spanId,
      name: `chat ${model}`,
      kind: "client",
      startMs,
      endMs: Date.now(),
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": usage?.input_tokens,
        "gen_ai.usage.output_tokens": usage?.output_tokens,
      },
      error,
    });
  try {
    const reply = await call();
    ended(reply.usage);
    return reply;
  } catch (error) {
    ended(undefined, error instanceof ModelError ? `model_${error.kind}` : "model_failed");
    throw error;
  }
}
