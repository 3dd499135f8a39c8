/** The ledger's lines, and the entries that follow from them. Pure. */
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";

const at = z.number();
const id = z.string();

const Line = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("started"),
    id,
    command: z.string(),
    tool: z.optional(z.string()),
    at,
    idempotent: z.boolean(),
    /** The gateway acknowledges the result, so the result is sent again until then. */
    acks: z.boolean(),
    /** For a job: the call that began it. `until` (epoch ms): the end of a job, or of anything that waits for a person. */
    job_of: z.optional(z.string()),
    until: z.optional(z.number()),
    /** Of the command, or of the call that began the job: the report carries it. */
    route: z.optional(z.string()),
  }),
  /** An approval was asked for, open at most until `until`. Its call has not begun. */
  z.object({ t: z.literal("asks"), id, at, until: z.number() }),
  /** … and was answered. After a yes this line is written before anything runs. */
  z.object({ t: z.literal("heard"), id, at }),
  /** A person was asked something during the call, open at most until `until`. */
  z.object({ t: z.literal("waits"), id, at, until: z.number() }),
  /** A prompt's loop is about to make a call … */
  z.object({
    t: z.literal("inner"),
    id,
    at,
    call: z.string(),
    tool: z.string(),
    read: z.boolean(),
    /** Left out when long. */
    args: z.optional(z.record(z.string(), z.unknown())),
  }),
  /** … and made it. */
  z.object({
    t: z.literal("inner_done"),
    id,
    at,
    call: z.string(),
    ok: z.boolean(),
    text: z.string(),
    ms: z.number(),
  }),
  /** `report` is absent when it was acknowledged and then dropped to save room. */
  z.object({ t: z.literal("done"), id, at, report: z.optional(z.string()) }),
  z.object({ t: z.literal("acked"), id, at }),
]);
export type LedgerLine = z.infer<typeof Line>;
type LineOf<T extends LedgerLine["t"]> = Extract<LedgerLine, { t: T }>;

/** The place of a report: in the file, in memory because the file could not be written, or undefined: no longer stored. */
type ReportPlace =
  | { in: "file"; offset: number; length: number }
  | { in: "memory"; text: string }
  | undefined;

/** A call of a prompt's loop. */
export type InnerCall = Pick<LineOf<"inner">, "call" | "tool" | "read" | "args"> & {
  done?: Pick<LineOf<"inner_done">, "ok" | "text" | "ms">;
};

export type LedgerEntry = {
  readonly id: string;
  readonly command: string;
  readonly tool: string | undefined;
  /** Epoch ms by the device's clock. */
  at: number;
  readonly idempotent: boolean;
  readonly acks: boolean;
  /** The call that began this job. */
  readonly jobOf: string | undefined;
  /** While there is no report; the report has it then. */
  route: string | undefined;
  /** Epoch ms from which its age counts: its start, its end, or the end of a wait. */
  freshAt: number;
  /** The number of open approvals. */
  asking: number;
  /** The calls of a prompt's loop, while the prompt has no result. */
  inner: InnerCall[] | undefined;
  /** `interrupted`: an earlier process started it and ended before the result. */
  state: "running" | "interrupted" | "done" | "acked";
  report: ReportPlace;
  /** Monotonic ms at which this process first knew of it. */
  readonly knownSince: number;
};

/** Makes an entry from its first line. */
export function newEntry(line: LineOf<"started">, state: LedgerEntry["state"], now: number): LedgerEntry {
  return {
    id: line.id,
    command: line.command,
    tool: line.tool,
    at: line.at,
    idempotent: line.idempotent,
    acks: line.acks,
    jobOf: line.job_of,
    route: line.route,
    freshAt: Math.max(line.at, line.until ?? 0),
    asking: 0,
    inner: undefined,
    state,
    report: undefined,
    knownSince: now,
  };
}

/** The lines from which an entry can be read again, without its result. */
export function linesOf(entry: LedgerEntry): LedgerLine[] {
  const { id, command, tool, at, idempotent, acks, jobOf, route, freshAt, asking, state } = entry;
  const isOpen = (state === "running" || state === "interrupted") && freshAt > at;
  const lines: LedgerLine[] = [
    {
      t: "started",
      id,
      command,
      ...(tool !== undefined && { tool }),
      at,
      idempotent,
      acks,
      ...(jobOf !== undefined && { job_of: jobOf }),
      ...(isOpen && { until: freshAt }),
      ...(route !== undefined && { route }),
    },
  ];
  for (const { done, ...inner } of entry.inner ?? []) {
    lines.push({ t: "inner", id, at, ...inner });
    if (done) lines.push({ t: "inner_done", id, at, call: inner.call, ...done });
  }
  for (let open = 0; open < asking; open += 1) lines.push({ t: "asks", id, at, until: freshAt });
  return lines;
}

export function lineBytes(line: LedgerLine): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** Reads the report out of a `done` line. */
export function reportOfLine(text: string): string | undefined {
  const line = checkJson(Line, text);
  return line.ok && line.value.t === "done" ? line.value.report : undefined;
}

/**
 * Reads a ledger's bytes into its entries, and counts the unreadable lines. A torn line is a write that never ended. Whatever
 * depends on a write waits for its end, so nothing was run because of a torn line.
 */
export function readLedger(bytes: Buffer, now: number): { entries: Map<string, LedgerEntry>; torn: number } {
  const entries = new Map<string, LedgerEntry>();
  let torn = 0;
  for (let offset = 0; offset < bytes.length; ) {
    const newline = bytes.indexOf(10, offset);
    const end = newline < 0 ? bytes.length : newline;
    const text = bytes.toString("utf8", offset, end);
    const line = text.trim() === "" ? undefined : checkJson(Line, text);
    if (line?.ok) apply(entries, line.value, { in: "file", offset, length: end - offset }, now);
    else if (line) torn += 1;
    offset = end + 1;
  }
  return { entries, torn };
}

function apply(entries: Map<string, LedgerEntry>, line: LedgerLine, place: ReportPlace, now: number): void {
  const entry = entries.get(line.id);
  if (!entry) {
    if (line.t === "started") entries.set(line.id, newEntry(line, "interrupted", now));
    return;
  }
  if (line.t === "done") entry.report = line.report === undefined ? undefined : place;
  follow(entry, line);
}

/** Applies a line after the first to its entry, except for the place of the report, which the reader or writer sets. */
export function follow(entry: LedgerEntry, line: LedgerLine): void {
  switch (line.t) {
    case "started":
      return;
    case "asks":
      entry.asking += 1;
      entry.freshAt = Math.max(entry.freshAt, line.until);
      return;
    case "waits":
      entry.freshAt = Math.max(entry.freshAt, line.until);
      return;
    case "heard":
      entry.asking = Math.max(0, entry.asking - 1);
      return;
    case "inner": {
      const { call, tool, read, args } = line;
      entry.inner = [...(entry.inner ?? []), { call, tool, read, ...(args && { args }) }];
      return;
    }
    case "inner_done": {
      const { call, ok, text, ms } = line;
      const inner = entry.inner?.find((it) => it.call === call);
      if (inner) inner.done = { ok, text, ms };
      return;
    }
    case "done":
      entry.state = "done";
      entry.freshAt = line.at;
      entry.asking = 0;
      entry.inner = undefined;
      entry.route = undefined;
      return;
    case "acked":
      entry.state = "acked";
  }
}
