/** The ledger's lines and how its entries follow from them. Pure. */
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";

const Line = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("started"),
    id: z.string(),
    command: z.string(),
    tool: z.optional(z.string()),
    at: z.number(),
    idempotent: z.boolean(),
    /** The gateway acknowledges the result, so it is sent again until it does. */
    acks: z.boolean(),
  }),
  /** `report` is absent when it was acknowledged and then left out to save room. */
  z.object({ t: z.literal("done"), id: z.string(), at: z.number(), report: z.optional(z.string()) }),
  z.object({ t: z.literal("acked"), id: z.string(), at: z.number() }),
]);
export type LedgerLine = z.infer<typeof Line>;

/** Where a report is: in the file, in memory because the file could not be written, or no longer kept. */
export type ReportPlace =
  | { in: "file"; offset: number; length: number }
  | { in: "memory"; text: string }
  | undefined;

export type LedgerEntry = {
  readonly id: string;
  readonly command: string;
  readonly tool: string | undefined;
  /** Epoch ms by the device's clock. */
  readonly at: number;
  readonly idempotent: boolean;
  readonly acks: boolean;
  /** `interrupted`: started by an earlier process that did not come to its end. */
  state: "running" | "interrupted" | "done" | "acked";
  report: ReportPlace;
  /** When this process first knew of it, on the monotonic clock. */
  readonly knownSince: number;
};

export function lineBytes(line: LedgerLine): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** Reads the report out of a `done` line. */
export function reportOfLine(text: string): string | undefined {
  const line = checkJson(Line, text);
  return line.ok && line.value.t === "done" ? line.value.report : undefined;
}

/**
 * Bytes of a ledger → its entries, and the number of lines that could not be read. A torn line stands for
 * a write that never ended, and what depends on a write waits for its end: nothing was run because of it.
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
  if (line.t === "started") {
    if (entry) return;
    const { id, command, tool, at, idempotent, acks } = line;
    entries.set(id, {
      id,
      command,
      tool,
      at,
      idempotent,
      acks,
      state: "interrupted",
      report: undefined,
      knownSince: now,
    });
  } else if (entry && line.t === "done") {
    entry.state = "done";
    entry.report = line.report === undefined ? undefined : place;
  } else if (entry) entry.state = "acked";
}
