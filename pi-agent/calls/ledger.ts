/**
 * The ledger of commands and their results, on disk. It recognises a repeated command even after a restart.
 *
 *   started ── before anything runs ──▶ done (with the report) ──▶ acked (the gateway has it)
 *      └── the process ended here: idempotent work may run again, any other outcome is unknown
 *
 * Writes are synced only for work that must not run twice. A lost read is simply read again, and an SD card bears a limited
 * number of writes.
 */
import { LEDGER_KEEP_MS } from "@edgecall/core/protocol/names.ts";
import { type Clock, SteadyTime, systemClock } from "@edgecall/node/clock.ts";
import type { LedgerStorage } from "@edgecall/node/ledger-file.ts";
import type { Log } from "@edgecall/node/log.ts";
import { messageOf } from "@edgecall/node/log.ts";
import {
  follow,
  type InnerCall,
  type LedgerEntry,
  type LedgerLine,
  lineBytes,
  linesOf,
  newEntry,
  readLedger,
  reportOfLine,
} from "./ledger-lines.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** More than a busy home needs in a day. An entry takes some 300 bytes of memory. */
export const LEDGER_MAX_ENTRIES = 1_000;
/** The whole file is read at the start, so it must stay small. */
export const LEDGER_MAX_BYTES = 4 * 1024 * 1024;
/** A caller that never acknowledges repeats a command soon or not at all (a QoS 1 redelivery). */
const REPEAT_WITHIN_MS = 10 * 60 * 1_000;
/** A compaction shrinks the ledger to this part of its bound, so that the next one is not due at once. */
const COMPACT_TO = 0.8;
/** A clock before this (2024-01-01) was never set. Ages then count from when the entry was read. */
const PLAUSIBLE_FROM = 1_704_067_200_000;

export type Start = {
  id: string;
  command: string;
  tool?: string;
  idempotent: boolean;
  /** The caller acknowledges results. */
  acks: boolean;
  /** For a job: the call that began it, and the longest time that it may take, in ms. */
  job?: { of: string; maxMs: number };
  /** Of the command, or of the call that began the job. */
  route?: string | undefined;
};

export type Begun =
  | { do: "run" }
  /** An earlier copy of this command is running. */
  | { do: "wait" }
  /** `report` is undefined when the gateway has it and it was dropped here to save room. */
  | { do: "repeat"; report: string | undefined }
  /** An earlier process started it and ended. It may or may not have taken effect. */
  | { do: "unknown"; entry: LedgerEntry }
  /**
   * It cannot be recorded, and is not safe to run twice. It still needs a `done`: after the answer that nothing was run, a
   * copy that comes when there is room again must not run either.
   */
  | { do: "refuse"; reason: string };

export type LedgerOptions = {
  storage: LedgerStorage;
  log: Log;
  /** Called after each write. @param error undefined: it was written */
  onWritten?: (error: unknown) => void;
  clock?: Clock;
};

export class CommandLedger {
  readonly #storage: LedgerStorage;
  readonly #log: Log;
  readonly #onWritten: (error: unknown) => void;
  readonly #now: () => number;
  readonly #time: SteadyTime;
  #entries = new Map<string, LedgerEntry>();
  /** Writes run one after another, so that lines stay whole and offsets right. */
  #queue: Promise<unknown> = Promise.resolve();
  #bytes = 0;
  /** A failed write may have left half a line, so the next one starts on a new line. */
  #tornTail = false;
  #compactedAt: number;
  #compactAbove = { entries: LEDGER_MAX_ENTRIES, bytes: LEDGER_MAX_BYTES };

  private constructor(options: LedgerOptions) {
    this.#storage = options.storage;
    this.#log = options.log;
    this.#onWritten = options.onWritten ?? (() => {});
    const clock = options.clock ?? systemClock;
    this.#now = clock.now;
    this.#time = new SteadyTime(clock);
    this.#compactedAt = this.#now();
  }

  /** Opens the ledger. If it cannot be read or written, that is logged, and the agent still serves reads. */
  static async open(options: LedgerOptions): Promise<CommandLedger> {
    const ledger = new CommandLedger(options);
    await ledger.#load();
    return ledger;
  }

  async #load(): Promise<void> {
    try {
      const bytes = await this.#storage.load();
      const { entries, torn } = readLedger(bytes, this.#now());
      this.#entries = entries;
      this.#bytes = bytes.length;
      this.#tornTail = bytes.length > 0 && bytes.at(-1) !== 10;
      if (torn > 0) this.#log("warn", "ledger.torn", { lines: torn });
      if (bytes.length > 0) await this.#inOrder(() => this.#compact());
    } catch (error) {
      this.#log("error", "ledger.unreadable", { error: messageOf(error) });
    }
  }

  /**
   * Takes a command, or returns what became of its earlier copy. This works for copies that come at the same moment too: the
   * entry exists before the first await.
   */
  async begin(start: Start): Promise<Begun> {
    const known = this.#entries.get(start.id);
    if (known) return await this.#again(known);
    const { id, command, tool, idempotent, acks, job, route } = start;
    const at = this.#wallClock();
    const line: LedgerLine = {
      t: "started",
      id,
      command,
      ...(tool !== undefined && { tool }),
      at,
      idempotent,
      acks,
      ...(job && { job_of: job.of, until: at + job.maxMs }),
      ...(route !== undefined && { route }),
    };
    const entry = newEntry(line, "running", this.#now());
    this.#entries.set(entry.id, entry);
    const written = this.#write(line, !entry.idempotent);
    // Idempotent work does not wait for the disk, since a repetition does no harm.
    const failure = entry.idempotent ? undefined : await written;
    return failure === undefined ? { do: "run" } : { do: "refuse", reason: messageOf(failure) };
  }

  async #again(entry: LedgerEntry): Promise<Begun> {
    if (entry.state === "running") return { do: "wait" };
    if (entry.state === "interrupted") {
      if (mustNotRunAgain(entry)) return { do: "unknown", entry };
      entry.state = "running";
      return { do: "run" };
    }
    return { do: "repeat", report: await this.reportOf(entry.id) };
  }

  /** True if the ledger has this command. */
  knows(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Records the result of a command. For work that must not run twice it is on disk when this resolves, if possible. */
  async done(id: string, report: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    const line: LedgerLine = { t: "done", id, at: this.#wallClock(), report };
    // This holds until the report is in the file, or for good if the write fails.
    entry.report = { in: "memory", text: report };
    // Written before the report is published, so that it survives if the process is killed right after.
    // The same write may rewrite the file, which has to know of the result.
    const failure = await this.#write(line, !entry.idempotent, (offset, length) => {
      entry.report = { in: "file", offset, length };
      follow(entry, line);
    });
    if (failure !== undefined && entry.state !== "acked") follow(entry, line);
  }

  /** An approval is asked for, open at most `forMs`. If this line is lost, more counts as run than did. */
  async approvalAsked(id: string, forMs: number): Promise<void> {
    const at = this.#wallClock();
    await this.#add({ t: "asks", id, at, until: at + forMs }, false);
  }

  /** A person is asked during the call, for at most `forMs`. The entry is not forgotten before that. */
  async questionAsked(id: string, forMs: number): Promise<void> {
    const at = this.#wallClock();
    await this.#add({ t: "waits", id, at, until: at + forMs }, false);
  }

  /**
   * The approval was answered. Call it before the approved call runs.
   * @returns the error of the write, or undefined
   */
  async approvalAnswered(id: string): Promise<unknown> {
    return await this.#add({ t: "heard", id, at: this.#wallClock() }, true);
  }

  /** A prompt's loop is about to make this call. @returns the error of the write, or undefined */
  async innerStarted(id: string, inner: Omit<InnerCall, "done">, durable: boolean): Promise<unknown> {
    return await this.#add({ t: "inner", id, at: this.#wallClock(), ...inner }, durable);
  }

  async innerEnded(id: string, call: string, done: NonNullable<InnerCall["done"]>): Promise<void> {
    await this.#add({ t: "inner_done", id, at: this.#wallClock(), call, ...done }, false);
  }

  /** Adds a line to a running entry. For any other nothing is written. @returns the error of the write, or undefined */
  async #add(line: LedgerLine, durable: boolean): Promise<unknown> {
    const entry = this.#entries.get(line.id);
    if (entry?.state !== "running") return undefined;
    follow(entry, line);
    return await this.#write(line, durable && !entry.idempotent);
  }

  /** The gateway has the result. */
  async acked(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry?.state !== "done") return;
    const line: LedgerLine = { t: "acked", id, at: this.#wallClock() };
    follow(entry, line);
    await this.#write(line, false);
  }

  /** Work of an earlier process that may or may not have taken effect. */
  interrupted(): LedgerEntry[] {
    return [...this.#entries.values()].filter(
      (entry) => entry.state === "interrupted" && mustNotRunAgain(entry),
    );
  }

  /** The jobs that a call began. */
  jobsOf(id: string): Array<{ job: string; tool: string }> {
    return [...this.#entries.values()]
      .filter(({ jobOf }) => jobOf === id)
      .map((job) => ({ job: job.id, tool: job.tool ?? job.command }));
  }

  /** Ids of results that their caller has not acknowledged, oldest first. */
  unacked(): string[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.acks && entry.state === "done" && this.#ageOf(entry) < LEDGER_KEEP_MS)
      .map((entry) => entry.id);
  }

  async reportOf(id: string): Promise<string | undefined> {
    // Read in order with the writes, since a compaction moves the lines.
    return await this.#inOrder(async () => {
      const place = this.#entries.get(id)?.report;
      if (place === undefined) return undefined;
      if (place.in === "memory") return place.text;
      try {
        return reportOfLine((await this.#storage.read(place.offset, place.length)).toString("utf8"));
      } catch (error) {
        this.#log("error", "ledger.unreadable", { error: messageOf(error), request_id: id });
        return undefined;
      }
    });
  }

  async close(): Promise<void> {
    await this.#inOrder(() => this.#storage.close()).catch(() => {});
  }

  #ageOf(entry: LedgerEntry): number {
    if (entry.at < PLAUSIBLE_FROM) return this.#now() - entry.knownSince;
    return this.#wallClock() - entry.freshAt;
  }

  /** Epoch ms. A clock that was set makes no entry older or younger: one that is forgotten too early could run again. */
  #wallClock(): number {
    const { at, setBy } = this.#time.read();
    if (setBy === 0) return at;
    for (const entry of this.#entries.values()) {
      entry.at += setBy;
      entry.freshAt += setBy;
    }
    // The next write brings the new times to the disk.
    this.#compactedAt = Number.NEGATIVE_INFINITY;
    return at;
  }

  /** @returns the error of the write, or undefined */
  async #write(
    line: LedgerLine,
    durable: boolean,
    written?: (offset: number, length: number) => void,
  ): Promise<unknown> {
    return await this.#inOrder(async () => {
      const bytes = lineBytes(line);
      try {
        const lead = this.#tornTail ? Buffer.from("\n") : Buffer.alloc(0);
        this.#tornTail = true;
        const offset = await this.#storage.append(Buffer.concat([lead, bytes]));
        this.#tornTail = false;
        this.#bytes = offset + lead.length + bytes.length;
        written?.(offset + lead.length, bytes.length - 1);
        if (durable) await this.#storage.sync();
      } catch (error) {
        this.#log("error", "ledger.unwritable", { error: messageOf(error), request_id: line.id });
        this.#onWritten(error);
        return error;
      }
      this.#onWritten(undefined);
      await this.#compactIfDue();
      return undefined;
    });
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  async #compactIfDue(): Promise<void> {
    const due =
      this.#entries.size > this.#compactAbove.entries ||
      this.#bytes > this.#compactAbove.bytes ||
      this.#now() - this.#compactedAt > DAY_MS;
    if (!due) return;
    try {
      await this.#compact();
    } catch (error) {
      this.#log("error", "ledger.unwritable", { error: messageOf(error) });
    }
  }

  /** Rewrites the file with the entries that are still needed. */
  async #compact(): Promise<void> {
    const before = [...this.#entries.keys()];
    const keep = this.#worthKeeping();
    const parts: Buffer[] = [];
    const places = new Map<string, LedgerEntry["report"]>();
    let size = 0;
    const add = (line: LedgerLine) => {
      const bytes = lineBytes(line);
      parts.push(bytes);
      size += bytes.length;
      return { in: "file" as const, offset: size - bytes.length, length: bytes.length - 1 };
    };
    const roomy = this.#bytes <= LEDGER_MAX_BYTES;
    for (const entry of keep) {
      for (const line of linesOf(entry)) add(line);
      if (entry.state === "running" || entry.state === "interrupted") continue;
      const report = roomy || this.#isWanted(entry) ? await this.#reportNow(entry) : undefined;
      const place = add({
        t: "done",
        id: entry.id,
        at: entry.freshAt,
        ...(report !== undefined && { report }),
      });
      places.set(entry.id, report === undefined ? undefined : place);
      if (entry.state === "acked") add({ t: "acked", id: entry.id, at: entry.freshAt });
    }
    await this.#storage.replace(Buffer.concat(parts, size));
    // An entry that began meanwhile stays: its line is written after this.
    const needed = new Set(keep.map(({ id }) => id));
    for (const id of before) if (!needed.has(id)) this.#entries.delete(id);
    for (const [id, place] of places) {
      const entry = this.#entries.get(id);
      if (entry) entry.report = place;
    }
    this.#bytes = size;
    this.#tornTail = false;
    this.#compactedAt = this.#now();
    this.#compactAbove = {
      entries: Math.max(LEDGER_MAX_ENTRIES, Math.ceil(keep.length / COMPACT_TO)),
      bytes: Math.max(LEDGER_MAX_BYTES, Math.ceil(size / COMPACT_TO)),
    };
  }

  /** True if the report may still be asked for: it is not acknowledged, or young. */
  #isWanted(entry: LedgerEntry): boolean {
    if (entry.acks) return entry.state === "done";
    return this.#ageOf(entry) < REPEAT_WITHIN_MS;
  }

  async #reportNow(entry: LedgerEntry): Promise<string | undefined> {
    if (entry.report === undefined || entry.report.in === "memory") return entry.report?.text;
    return reportOfLine(
      (await this.#storage.read(entry.report.offset, entry.report.length)).toString("utf8"),
    );
  }

  /**
   * The entries younger than a day, up to the bound. Entries that are under way or must not run twice are never dropped before
   * their day is over: a dropped command could run again.
   */
  #worthKeeping(): LedgerEntry[] {
    const young = [...this.#entries.values()].filter(
      (entry) => entry.state === "running" || this.#ageOf(entry) < LEDGER_KEEP_MS,
    );
    if (young.length <= LEDGER_MAX_ENTRIES) return young;
    const goal = Math.floor(LEDGER_MAX_ENTRIES * COMPACT_TO);
    const mayGo = (entry: LedgerEntry) => entry.idempotent && entry.state !== "running";
    const order = [
      ...young.filter((entry) => mayGo(entry) && entry.state === "acked"),
      ...young.filter((entry) => mayGo(entry) && entry.state !== "acked"),
    ];
    const dropped = new Set(order.slice(0, young.length - goal));
    return young.filter((entry) => !dropped.has(entry));
  }
}

/**
 * A call with an open approval is not run again without the person. A prompt is as safe as the calls that its loop has
 * begun: each was recorded before it ran.
 */
function mustNotRunAgain({ idempotent, asking, command, inner = [] }: LedgerEntry): boolean {
  if (asking > 0) return true;
  return command === "prompt" ? inner.some((call) => !call.read) : !idempotent;
}
