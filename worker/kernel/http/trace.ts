/** The span of a request, recorded only if the request begins a turn or a call: nobody else makes the gateway send spans. */
import { childOf, newTrace, readTraceparent, traceparentOf } from "@edgecall/core/trace/context.ts";
import type { Context, Next } from "hono";
import { traceSettings } from "../settings/trace.ts";
import { newTracer } from "../trace.ts";
import type { App } from "./app.ts";

/** Middleware. Of a streamed answer, the span ends with its headers. */
export async function traceRequest(c: Context<App>, next: Next): Promise<void> {
  const startMs = Date.now();
  await next();
  const span = c.get("span");
  if (!span) return;
  const { status } = c.res;
  const tracer = newTracer(c.env, "http", c.executionCtx);
  tracer?.add({
    context: span.context,
    parentId: span.parentId,
    name: `${c.req.method} ${span.route}`,
    kind: "server",
    startMs,
    endMs: Date.now(),
    attributes: {
      "http.request.method": c.req.method,
      "http.route": span.route,
      "http.response.status_code": status,
    },
    error: status >= 500 ? String(status) : undefined,
  });
  if (tracer) c.executionCtx.waitUntil(tracer.flush());
}

/** For a turn or a call that the request begins. Whether its trace is recorded is decided here. @returns {}: nothing is traced */
export function traceOf(c: Context<App>): { trace?: string } {
  const settings = traceSettings(c.env);
  if (!settings) return {};
  const known = c.get("span");
  if (known) return { trace: traceparentOf(known.context) };
  const parent = readTraceparent(c.req.header("traceparent"));
  const context = parent ? childOf(parent) : newTrace(settings.ratio);
  c.set("span", { context, parentId: parent?.spanId, route: c.req.routePath });
  return { trace: traceparentOf(context) };
}
