/**
 * What depends on time or chance. A command's template has none of it: a person allows messages, and such a template would send others
 * later.
 */
import { TemplateProblem } from "./budget.ts";

const WHY: ReadonlyMap<string, "time" | "chance"> = new Map([
  ["now", "time"],
  ["utcnow", "time"],
  ["today_at", "time"],
  ["relative_time", "time"],
  ["time_since", "time"],
  ["time_until", "time"],
  ["random", "chance"],
  ["shuffle", "chance"],
  ["lipsum", "chance"],
]);

const CALLS = ["function", "filter", "method", "test"];

/** Throws on a function, filter or method that a command's template must not have. */
export function refuseUnsteady(name: string): void {
  const why = WHY.get(name);
  if (why !== undefined)
    throw new TemplateProblem(
      `uses "${name}", which depends on ${why}: what a command sends has to follow from its parameters`,
    );
}

/** The same for all calls that stand in a template. @param node a statement, an expression, or a list of them */
export function refuseUnsteadyIn(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { kind, name } = node as { kind?: unknown; name?: unknown };
  if (typeof kind === "string" && CALLS.includes(kind) && typeof name === "string") refuseUnsteady(name);
  for (const part of Object.values(node)) refuseUnsteadyIn(part);
}
