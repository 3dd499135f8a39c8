/**
 * What this agent was told to do and what came of it, on disk: a repeated command is recognised, whatever
 * happened in between.
 *
 *   started ── before anything runs ──▶ done (with the report) ──▶ acked (the gateway has it)
 *      └── the process ended here: idempotent work may run again, any other outcome is unknown
 *
 * Writes are synced only for work that must not run twice: a read that is lost is simply read again, and an
 * SD card bears only so many writes.
 */

import type { Log } from "@edgecall/node/log.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { LedgerStorage } from "./ledger-file.ts";
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
/** The gateway gives up on a call long before; a day also covers a house that was offline overnight. */
export const LEDGER_KEEP_MS = DAY_MS;
/** More than a busy home makes in a day; an entry takes some 300 bytes of memory. */
export const LEDGER_MAX_ENTRIES = 1_000;
/** The file is read whole at the start, so it must stay small beside the program itself. */
export const LEDGER_MAX_BYTES = 4 * 1024 * 1024;
/** A caller that never acknowledges repeats itself at once or not at all (a QoS 1 redelivery). */
const REPEAT_WITHIN_MS = 10 * 60 * 1_000;
/** Room that a compaction makes, so that the next one is not due at once. */
const COMPACT_TO = 0.8;
/** Before this a clock was never set (2024-01-01): ages are then counted from when the entry was read. */
const PLAUSIBLE_FROM = 1_704_067_200_000;

export type Start = {
  id: string;
  command: string;
  tool?: string;
  idempotent: boolean;
  /** The caller acknowledges results. */
  acks: boolean;
  /** This is a job: the call that began it, and for how long it may go on, in ms. */
  job?: { of: string; maxMs: number };
};

export type Begun =
  | { do: "run" }
  /** It is running right now, from an earlier copy of this command. */
  | { do: "wait" }
  /** `report` is undefined when the gateway has it and it was left out here to save room. */
  | { do: "repeat"; report: string | undefined }
  /** An earlier process started it and ended: it may or may not have taken effect; the entry tells. */
  | { do: "unknown"; entry: LedgerEntry }
  /**
   * It cannot be recorded, and is not safe to run twice. It still wants its `done`: once it is said that nothing
   * was run, a copy that comes when there is room again must not run either.
   */
  | { do: "refuse"; reason: string };

export type LedgerOptions = {
  storage: LedgerStorage;
  log: Log;
  /** Epoch ms. */
  wallClock?: () => number;
  /** Monotonic ms. */
  now?: () => number;
};

export class CommandLedger {
  readonly #storage: LedgerStorage;
  readonly #log: Log;
  readonly #wallClock: () => number;
  readonly #now: () => number;
  #entries = new Map<string, LedgerEntry>();
  /** Writes go one after the other, so that lines stay whole and offsets right. */
  #queue: Promise<unknown> = Promise.resolve();
  #bytes = 0;
  /** A failed write may have left half a line; the next one starts on a line of its own. */
  #tornTail = false;
  #compactedAt: number;
  #compactAbove = { entries: LEDGER_MAX_ENTRIES, bytes: LEDGER_MAX_BYTES };

  private constructor(options: LedgerOptions) {
    this.#storage = options.storage;
    this.#log = options.log;
    this.#wallClock = options.wallClock ?? (() => Date.now());
    this.#now = options.now ?? (() => performance.now());
    this.#compactedAt = this.#now();
  }

  /** Opens the ledger. One that cannot be read or written is no reason not to serve reads: it says so in the log. */
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
   * Takes a command, or says what became of its earlier copy. Copies that come at the same moment are told
   * apart too: the entry is there before the first await.
   */
  async begin(start: Start): Promise<Begun> {
    const known = this.#entries.get(start.id);
    if (known) return await this.#again(known);
    const { id, command, tool, idempotent, acks, job } = start;
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
    };
    const entry = newEntry(line, "running", this.#now());
    this.#entries.set(entry.id, entry);
    const written = this.#write(line, !entry.idempotent);
    // A repetition of it does no harm, so it does not wait for the disk.
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

  /** Whether it was begun before, as far as is remembered. */
  knows(id: string): boolean {
    return this.#entries.has(id);
  }

  /** What came of a command. For work that must not run twice it is on disk when this returns, if it can be. */
  async done(id: string, report: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    const line: LedgerLine = { t: "done", id, at: this.#wallClock(), report };
    // Until it is in the file, and should it never be.
    entry.report = { in: "memory", text: report };
    // Before anybody has the report: a process that is killed after that still knows it in its next life.
    await this.#write(line, !entry.idempotent, (offset, length) => {
      entry.report = { in: "file", offset, length };
    });
    follow(entry, line);
  }

  /** An approval is asked for, for `forMs` at most. Should this be lost, more is taken to have run than did. */
  async asks(id: string, forMs: number): Promise<void> {
    const at = this.#wallClock();
    await this.#add({ t: "asks", id, at, until: at + forMs }, false);
  }

  /** A person is asked in the middle of it, for `forMs` at most: so long it may be sent again, and is not forgotten. */
  async waits(id: string, forMs: number): Promise<void> {
    const at = this.#wallClock();
    await this.#add({ t: "waits", id, at, until: at + forMs }, false);
  }

  /**
   * The approval was answered; before something that must not run twice runs because of it.
   * @returns what went wrong, or undefined
   */
  async heard(id: string): Promise<unknown> {
    return await this.#add({ t: "heard", id, at: this.#wallClock() }, true);
  }

  /**
   * A prompt's own loop is about to make this call.
   * @returns what went wrong, or undefined
   */
  async innerStarted(id: string, inner: Omit<InnerCall, "done">, durable: boolean): Promise<unknown> {
    return await this.#add({ t: "inner", id, at: this.#wallClock(), ...inner }, durable);
  }

  async innerEnded(id: string, call: string, done: NonNullable<InnerCall["done"]>): Promise<void> {
    await this.#add({ t: "inner_done", id, at: this.#wallClock(), call, ...done }, false);
  }

  /** Goes on with an entry that has no result; of any other nothing more is written. */
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

  /** Work of an earlier process that may or may not have taken effect, and whose caller waits for a result. */
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
    // In the order of the writes: a compaction moves the lines.
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

  /** @returns what went wrong, or undefined */
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
        return error;
      }
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

  /** Writes the file anew with what still matters. */
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
    // What began meanwhile is not among them, and stays: its line is written after this.
    const kept = new Set(keep.map(({ id }) => id));
    for (const id of before) if (!kept.has(id)) this.#entries.delete(id);
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

  /** Whether someone may still ask for this report: it is not acknowledged, or too young to be forgotten. */
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
   * Everything younger than a day, at most so many; but what is under way, and what must not run twice, is
   * never forgotten before its day is over: to forget it is to run it again.
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
    const gone = new Set(order.slice(0, young.length - goal));
    return young.filter((entry) => !gone.has(entry));
  }
}

/**
 * A call that a person was asked about is not run again without them. A prompt is as safe as what its loop has begun:
 * each call was recorded before it ran.
 */
function mustNotRunAgain({ idempotent, asking, command, inner = [] }: LedgerEntry): boolean {
  if (asking > 0) return true;
  return command === "prompt" ? inner.some((call) => !call.read) : !idempotent;
}
