/** Turns a device's report into the outcome of its call: bounded, and in words for the model. */

import type { CallRecord, Outcome, Usage } from "@edgecall/core/loop/history.ts";
import { agentSource, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { REPORTED_MAX, ReportedValue } from "@edgecall/core/protocol/devices.ts";
import {
  INLINE_MAX_CHARS,
  InlineMedia,
  isPicture,
  MEDIA_MAX_ITEMS,
  type Media,
  StoredMedia,
} from "@edgecall/core/protocol/media.ts";
import { type ActionAdvert, ClaimedUsage, type ReadReport } from "@edgecall/core/protocol/mqtt.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { cutText as cutShown } from "@edgecall/core/text/cut.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { type Advised, forPerson, readError } from "@edgecall/core/tools/advice.ts";
import { ERROR_TYPES, type ErrorType } from "@edgecall/core/tools/errors.ts";
import { cutText, RESULT_TEXT_MAX_BYTES } from "@edgecall/core/tools/runner.ts";

/** Calls of a device's own loop that an outcome holds, as many within those, and the characters of each text: every answer carries them. */
const INNER_CALLS_MAX = 50;
/** A call of an agent that called an agent that called an agent. */
const INNER_DEPTH_MAX = 3;
const INNER_TEXT_MAX = 2_000;
/** A device's advice to a model is a few sentences. */
const ADVICE_MAX_BYTES = 2_000;
/** A foreign agent writes nothing for a model alone, so a person sees all its words. */
const NO_ADVICE = "";
const JOB_TOKEN = /^[A-Za-z0-9_-]{8,128}$/;

export function isJobToken(job: unknown): job is string {
  return typeof job === "string" && JOB_TOKEN.test(job);
}

/** A shorter wait is the network's, and of no interest to a person. */
const WAIT_SHOWN_MS = 1_000;

/** Part of the text about an accepted job, unless Home cannot wait for its result. */
export const ARRIVES_LATER = ": the result arrives later as a message of its own.";

export type Reporter = {
  agent: string;
  /** The action that was called. Its schema helps the model after wrong parameters. */
  advert: ActionAdvert | undefined;
  /** A foreign agent does not report where its texts come from, so its tools are judged by their names. */
  foreign?: boolean | undefined;
  /** A hosted device, of which the bridge made the report. Only free text in it is somebody's words. */
  isPlain?: boolean;
};

/** @param roundTripMs from the call to this report, by Home's clock */
export function outcomeOf(
  report: ReadReport,
  roundTripMs: number,
  { agent, advert, foreign, isPlain }: Reporter,
): Outcome {
  const { payload } = report;
  const calls = innerCalls(payload, foreign);
  const usage = usageOf(payload);
  const media = mediaOf(payload);
  const forUser = forUserOf(payload);
  const isStrangers =
    (payload.tainted === undefined ? advert?.taints === true : payload.tainted !== false) ||
    (foreign === true && calls.some(({ name }) => !EVOCLAW_FIGURES.has(name))) ||
    media.some(isPicture);
  // A device can add a stranger as a source, but cannot take itself away. The bridge can.
  const isNobodys = isPlain === true && payload.tainted === false && !isStrangers;
  const sources: Source[] = isNobodys
    ? []
    : [agentSource(agent), ...(isStrangers ? [STRANGER as Source] : [])];
  const common = {
    ...timesOf(payload, roundTripMs),
    ...(forUser !== undefined && { forUser }),
    ...(media.length > 0 && { media }),
    ...(calls.length > 0 && { calls }),
    ...(usage && { usage }),
    ...(isPlain && confirmationOf(payload)),
    sources,
  };
  if (payload.status === "accepted" && isJobToken(payload.job)) {
    const result = asText(payload.result) || "The device has accepted the work.";
    const text = `${result}\nAccepted, not done${ARRIVES_LATER}`;
    return {
      status: "success",
      text: cutText(text, RESULT_TEXT_MAX_BYTES),
      advice: "Tell the user that.",
      job: payload.job,
      ...common,
    };
  }
  const failed = report.type === "error" || payload.status === "error";
  if (!failed) {
    const text = cutText(answerText(payload), RESULT_TEXT_MAX_BYTES);
    return { status: "success", text, ...(calledNoTool(payload, calls) && { asked: false }), ...common };
  }

  const errorType = errorTypeOf(payload.error_type);
  const { text: error, advice } = reportedError(payload, foreign);
  const schema =
    errorType === "invalid_params" && advert
      ? `\nSchema of '${advert.name}': ${JSON.stringify(advert.parameters)}`
      : "";
  const output = partialOutput(payload);
  const text = cutText(`${error}${schema}${output}`, RESULT_TEXT_MAX_BYTES);
  return { status: "error", text, ...(advice !== undefined && { advice }), errorType, ...common };
}

/** The device says that its model called no tool for its answer. */
function calledNoTool({ asked }: Record<string, unknown>, calls: readonly CallRecord[]): boolean {
  return asked === false && calls.length === 0;
}

function reportedError(payload: Record<string, unknown>, foreign: boolean | undefined): Advised {
  const words =
    asText(payload.error) ||
    asText(payload.content) ||
    asText(payload.result) ||
    "the device reported an error without words";
  const { text, advice } = readError(words, foreign ? NO_ADVICE : payload.advice);
  return { text: asError(text), ...(advice !== undefined && { advice: cutText(advice, ADVICE_MAX_BYTES) }) };
}

/** A report as a client of the API gets it: as it came, without what is for a model alone. */
export function withoutAdvice({ advice, ...payload }: Record<string, unknown>): Record<string, unknown> {
  const { error } = payload;
  return typeof error === "string" ? { ...payload, error: readError(error, advice).text } : payload;
}

/**
 * The device measures its own time, which does not include a wait for an approval. A time that is longer than the round
 * trip is not the time of this call, and is ignored.
 */
function timesOf(
  payload: Record<string, unknown>,
  roundTripMs: number,
): Pick<Outcome, "elapsedMs" | "waitedMs"> {
  const metadata = payload.metadata as { elapsed_ms?: unknown } | null | undefined;
  const own = payload.elapsed_ms ?? metadata?.elapsed_ms;
  if (typeof own !== "number" || !(own >= 0 && own <= roundTripMs)) return { elapsedMs: roundTripMs };
  const waitedMs = Math.round(roundTripMs - own);
  return { elapsedMs: Math.round(own), ...(waitedMs >= WAIT_SHOWN_MS && { waitedMs }) };
}

/** What the bridge says of a device's own state after a change. */
function confirmationOf({
  confirmed,
  reported,
  corrects,
}: Record<string, unknown>): Pick<Outcome, "confirmed" | "reported" | "corrects"> {
  const values = ReportedValues.safeParse(reported);
  const isShown = ({ label, value }: ReportedValue) =>
    (label === undefined || isLabel(label)) && (typeof value !== "string" || isLabel(value));
  return {
    ...(typeof confirmed === "boolean" && { confirmed }),
    ...(confirmed === false && corrects === true && { corrects }),
    ...(values.success && values.data.every(isShown) && { reported: values.data }),
  };
}
const ReportedValues = z.array(ReportedValue).check(z.maxLength(REPORTED_MAX));

/** Tokens of an agent's own model and of the agents that it called. They are its claim, so they serve for bounds alone. */
function usageOf({ metadata }: Record<string, unknown>): Usage | undefined {
  const usage = ClaimedUsage.safeParse(metadata);
  if (!usage.success) return undefined;
  const { input_tokens, output_tokens } = usage.data;
  return input_tokens + output_tokens > 0 ? { input_tokens, output_tokens } : undefined;
}

/** PicoClaw's tools may forbid it with `silent`. */
function forUserOf({ for_user, silent }: Record<string, unknown>): string | undefined {
  if (typeof for_user !== "string" || for_user === "" || silent === true) return undefined;
  return cutText(for_user, RESULT_TEXT_MAX_BYTES);
}

/** Invalid items are left out: what a device sends breaks no answer. */
function mediaOf(payload: Record<string, unknown>): Media[] {
  const listed: unknown[] = Array.isArray(payload.media) ? payload.media.slice(0, MEDIA_MAX_ITEMS) : [];
  let inline = 0;
  return listed.flatMap((item): Media[] => {
    const stored = StoredMedia.safeParse(item);
    if (stored.success) {
      const { id, media_type, bytes, sha256 } = stored.data;
      return [{ id, media_type, bytes, sha256 }];
    }
    const picture = InlineMedia.safeParse(item);
    if (!picture.success) return [];
    const { media_type, data } = picture.data;
    inline += data.length;
    return inline > INLINE_MAX_CHARS ? [] : [{ media_type, bytes: bytesOf(data), data }];
  });
}

/** The bytes that base64 decodes to. */
function bytesOf(data: string): number {
  return Math.floor((data.replace(/=+$/, "").length * 3) / 4);
}

/** Tools of EvoClaw's agent that return figures of its own machine. Any other tool may return a text that somebody else wrote. */
const EVOCLAW_FIGURES = new Set([
  "read_temperature",
  "read_cpu_usage",
  "read_memory",
  "read_disk",
  "system_info",
  "gpio_read",
  "gpio_write",
  "gpio_list",
  "network_info",
  "ping",
]);

/** Tokens of the jobs that a device's own loop began while it answered. Their results come under these tokens. */
export function jobsOf(payload: Record<string, unknown>): string[] {
  const listed: unknown[] = Array.isArray(payload.jobs) ? payload.jobs : [];
  const tokens = listed.map((item) => (item as { job?: unknown } | null)?.job);
  return tokens.filter(isJobToken).slice(0, INNER_CALLS_MAX);
}

/** EvoClaw's Rust agent answers a tool with an object, its prompt with `content`; ours with text. */
function answerText(payload: Record<string, unknown>): string {
  if (payload.content !== undefined && typeof payload.content === "string") return payload.content;
  if (payload.result !== undefined)
    return `${asText(payload.result)}${partialOutput({ stderr: payload.stderr })}`;
  const { request_id: _, ...rest } = payload;
  return JSON.stringify(rest);
}

function asError(text: string): string {
  return text.startsWith("Error") ? text : `Error: ${text}`;
}

function partialOutput(payload: Record<string, unknown>): string {
  const stderr = asText(payload.stderr);
  const parts: string[] = [];
  if (stderr) parts.push(`stderr: ${stderr}`);
  if (typeof payload.exit_code === "number" && payload.exit_code !== 0)
    parts.push(`exit code ${payload.exit_code}`);
  return parts.length > 0 ? `\n${parts.join("\n")}` : "";
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function errorTypeOf(value: unknown): ErrorType {
  return ERROR_TYPES.find((type) => type === value) ?? "execution_failed";
}

const InnerCall = z.looseObject({
  id: z.optional(z.string()),
  name: z.optional(z.string()),
  tool: z.optional(z.string()),
  args: z.optional(z.record(z.string(), z.unknown())),
  status: z.optional(z.string()),
  success: z.optional(z.boolean()),
  error_type: z.optional(z.string()),
  elapsed_ms: z.optional(z.number()),
  agent: z.optional(z.string()),
  asked: z.optional(z.unknown()),
});

/** The calls of a device's own loop: ours in `calls`, EvoClaw's in `tools_executed`. */
function innerCalls(
  payload: Record<string, unknown>,
  foreign: boolean | undefined,
  depth = INNER_DEPTH_MAX,
  within = { left: INNER_CALLS_MAX },
): CallRecord[] {
  if (depth === 0) return [];
  const listed = Array.isArray(payload.calls)
    ? payload.calls
    : Array.isArray(payload.tools_executed)
      ? payload.tools_executed
      : [];
  return listed.slice(0, INNER_CALLS_MAX).flatMap((item: unknown, index): CallRecord[] => {
    const call = InnerCall.safeParse(item);
    if (!call.success) return [];
    if (depth < INNER_DEPTH_MAX) {
      if (within.left === 0) return [];
      within.left -= 1;
    }
    const {
      id,
      name,
      tool,
      agent,
      args,
      status,
      success,
      result,
      error,
      advice,
      error_type,
      elapsed_ms,
      asked,
    } = call.data;
    const calls = innerCalls(call.data, foreign, depth - 1, within);
    const ok = status === undefined ? success === true : status === "success";
    return [
      {
        id: (id ?? String(index)).slice(0, 128),
        name: (name ?? tool ?? "unknown").slice(0, 64),
        ...(args && JSON.stringify(args).length <= INNER_TEXT_MAX && { args }),
        status: status === "pending" ? "pending" : ok ? "success" : "error",
        ...(ok
          ? { result: cutShown(asText(result), INNER_TEXT_MAX) }
          : {
              error: forPerson(readError(asText(error ?? result), foreign ? NO_ADVICE : advice)).slice(
                0,
                INNER_TEXT_MAX,
              ),
            }),
        ...(!ok && error_type !== undefined && { error_type: errorTypeOf(error_type) }),
        ...(elapsed_ms !== undefined && { elapsed_ms }),
        ...(agent !== undefined && { agent: agent.slice(0, 129) }),
        ...(calls.length > 0 && { calls }),
        ...(ok && asked === false && { asked }),
      },
    ];
  });
}
