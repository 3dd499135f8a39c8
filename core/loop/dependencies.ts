/**
 * Calls of one reply that depend on each other. A call may name itself (`id`), name others to run after (`after`), and put
 * their results into its arguments (core/tools/references.ts). All of it follows from the calls and their outcomes, so it is
 * the same after a crash.
 */
import { isObject } from "../protocol/is-object.ts";
import type { Parsed } from "../protocol/parse.ts";
import type { Advised } from "../tools/advice.ts";
import { namesOfPointer, referencesIn, resolveReferences, resultDocument } from "../tools/references.ts";
import { agentOfCall, type Call, type Outcome } from "./history.ts";

export type Waiting =
  /** It may run, with these arguments. */
  | { state: "ready"; args: Record<string, unknown> }
  | { state: "waits" }
  /** It never runs. */
  | { state: "ended"; errorType: "invalid_params" | "execution_failed"; words: Advised };

/** Returns the names of a tool's parameters. A parameter `id` or `after` of a tool stays the tool's. */
export type ParametersOf = (tool: string) => readonly string[];

const LABEL = /^[A-Za-z0-9_-]{1,32}$/;
const LABEL_TEXT = "right would be 1 to 32 letters, digits, _ or -";

/** @property args the arguments for the tool, with their references */
type Place = { label: string | undefined; after: readonly string[]; args: Record<string, unknown> };

/** The calls of a reply by their labels; a label that is given twice has two. */
type Labelled = ReadonlyMap<string, ReadonlyArray<{ call: Call; after: readonly string[] }>>;

/**
 * Tells whether a call may run now.
 * @param batch the calls of its reply that the same program runs, itself among them
 */
export function waitingOf(call: Call, batch: readonly Call[], parametersOf: ParametersOf = none): Waiting {
  // It gets the other one's result.
  if (call.same !== undefined) return { state: "waits" };
  // Arguments that could not be read are answered where the call would run.
  if (call.problem !== undefined) return { state: "ready", args: call.args };
  const place = placeOf(call, parametersOf);
  if (!place.ok) return invalid(call, place.error);
  const { label, after, args } = place.value;
  if (label === undefined && after.length === 0) return { state: "ready", args };
  const labelled = byLabel(batch, parametersOf);
  const wrong = [...(label === undefined ? [] : [label]), ...after].find(
    (one) => labelled.get(one)?.length !== 1,
  );
  if (wrong !== undefined) {
    const count = labelled.has(wrong) ? "more than one call" : "no call";
    return invalid(call, `${count} of this reply has the id '${wrong}'`);
  }
  if (label !== undefined && reaches(label, after, labelled))
    return invalid(call, "it would wait for itself");
  const outcomes = after.map((one) => labelled.get(one)?.[0]?.call.outcome);
  for (const [at, outcome] of outcomes.entries()) {
    const why = outcome && failureOf(outcome);
    if (why === undefined) continue;
    const text = `Error: Not run: it was to come after '${after[at]}', ${why}. Nothing was run.`;
    return { state: "ended", errorType: "execution_failed", words: { text } };
  }
  if (outcomes.includes(undefined)) return { state: "waits" };
  const document = Object.fromEntries(after.map((one) => [one, documentOf(labelled.get(one)?.[0]?.call)]));
  const resolved = resolveReferences(args, document);
  if (!resolved.ok) return invalid(call, resolved.error);
  return isObject(resolved.value)
    ? { state: "ready", args: resolved.value }
    : invalid(call, "what stands for all its arguments is not an object");
}

/** Returns the arguments with which a call ran, for people: with the results that its references point to. */
export function shownArguments(call: Call, batch: readonly Call[]): Record<string, unknown> {
  if (referencesIn(call.args).length === 0) return call.args;
  const waiting = waitingOf(call, batch);
  return waiting.state === "ready" ? waiting.args : call.args;
}

function placeOf(call: Call, parametersOf: ParametersOf): Parsed<Place> {
  const own = parametersOf(call.name);
  const args = { ...call.args };
  const extract = (name: string) => {
    if (own.includes(name)) return undefined;
    const value = args[name];
    delete args[name];
    // Models write null and empty texts for what they leave out.
    return value === null || value === "" ? undefined : value;
  };
  const id = extract("id");
  const label = id === undefined ? undefined : labelsIn([id])[0];
  const given = labelsIn(listOf(extract("after")));
  const referred = labelsIn(referencesIn(args).map((pointer) => namesOfPointer(pointer)[0]));
  const after = [...new Set([...given, ...referred])];
  for (const [name, one] of [["id", label], ...after.map((one) => ["after", one])] as const) {
    if (one !== undefined && !LABEL.test(one)) return { ok: false, error: `${name}: ${LABEL_TEXT}` };
  }
  return { ok: true, value: { label, after, args } };
}

/** Models write a list as JSON text, and a list of one as that one. */
function listOf(value: unknown): unknown[] {
  if (typeof value === "string" && value.trimStart().startsWith("[")) {
    try {
      return [JSON.parse(value)].flat();
    } catch {
      return [value];
    }
  }
  return [value ?? []].flat();
}

/** Numbers count as their digits; what is neither a text nor a number becomes an invalid label. */
function labelsIn(values: readonly unknown[]): string[] {
  return values.map((one) => (typeof one === "string" || typeof one === "number" ? String(one) : ""));
}

function byLabel(batch: readonly Call[], parametersOf: ParametersOf): Labelled {
  const labelled = new Map<string, Array<{ call: Call; after: readonly string[] }>>();
  for (const call of batch) {
    if (call.same !== undefined) continue;
    const place = call.problem === undefined ? placeOf(call, parametersOf) : undefined;
    if (!place?.ok || place.value.label === undefined) continue;
    const { label, after } = place.value;
    labelled.set(label, [...(labelled.get(label) ?? []), { call, after }]);
  }
  return labelled;
}

/** True if the way along `after` leads to the label. */
function reaches(label: string, after: readonly string[], labelled: Labelled): boolean {
  const seen = new Set<string>();
  const ahead = [...after];
  for (let one = ahead.pop(); one !== undefined; one = ahead.pop()) {
    if (one === label) return true;
    if (seen.has(one)) continue;
    seen.add(one);
    for (const { after } of labelled.get(one) ?? []) ahead.push(...after);
  }
  return false;
}

/** Only a success with its result counts. A later result of a job or of an unknown outcome changes nothing. */
function failureOf({ status, errorType, job }: Outcome): string | undefined {
  if (errorType === "outcome_unknown") return "whose outcome is unknown";
  if (status === "error") return "which failed";
  return job === undefined ? undefined : "whose result comes later";
}

function documentOf(call: Call | undefined): Record<string, unknown> {
  const agent = call && agentOfCall(call);
  return {
    status: call?.outcome?.status,
    ...resultDocument(call?.outcome?.text ?? ""),
    ...(agent !== undefined && { agent }),
  };
}

function invalid({ name }: Call, problem: string): Waiting {
  const text = `Error: Invalid parameters for '${name}': ${problem}. Nothing was run.`;
  return { state: "ended", errorType: "invalid_params", words: { text } };
}

function none(): readonly string[] {
  return [];
}
