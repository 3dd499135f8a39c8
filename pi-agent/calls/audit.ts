/**
 * The record of every call on this device. The recent lines are in memory. All lines are on disk for seven days, as JSON
 * lines, and go in batches to the gateway, which stores them for longer. A line is written after its call and delays none.
 * A power cut loses at most the last second.
 */
import { createHash } from "node:crypto";
import { appendFile, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AUDIT_BATCH_LINES, type AuditBatch, AuditLine } from "@edgecall/core/protocol/audit.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import { visibleJson } from "@edgecall/core/tools/visible.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

const KEEP_DAYS = 7;
/** The number of lines in memory. */
export const AUDIT_RECENT = 200;
/** Lines are written together after this time: one write for each would wear out an SD card. */
const WRITE_AFTER_MS = 1_000;
/** The shortest time between two batches. Without calls there is no batch, so the gateway is not woken. */
const SEND_EVERY_MS = 5 * 60_000;
/** While a person follows the record: how long the first line waits for others, and the shortest time between two batches. */
const FOLLOWED_AFTER_MS = 2_000;
const FOLLOWED_EVERY_MS = 5_000;
const FOLLOWED_MAX_MS = 5 * 60_000;
/** Bytes of one batch, which has to pass the broker. */
const BATCH_BYTES = 64 * 1024;
const DAY = /^audit-(\d{4}-\d{2}-\d{2})\.jsonl$/;

/** The gateway has all days before `day`, and the first `offset` bytes of that day. */
type Mark = { day: string; offset: number };

export type AuditOptions = {
  dir: string;
  secrets: readonly string[];
  log: Log;
  send(batch: AuditBatch): void;
  now?: () => number;
  sendEveryMs?: number;
  followed?: { afterMs: number; everyMs: number };
};

export class AuditLog {
  readonly #options: AuditOptions;
  readonly #now: () => number;
  readonly #recent: AuditLine[] = [];
  #unwritten: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #writeTimer: NodeJS.Timeout | undefined;
  readonly #sendTimer: NodeJS.Timeout;
  #mark: Mark;
  #sent: { id: string; until: Mark } | undefined;
  /** Both by the monotonic clock. */
  #followedUntil = 0;
  #offeredAt = Number.NEGATIVE_INFINITY;
  #soon: NodeJS.Timeout | undefined;
  /** The day whose file is known to end with a whole line. */
  #wholeDay: string | undefined;

  private constructor(options: AuditOptions, mark: Mark) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#mark = mark;
    this.#sendTimer = setInterval(() => void this.offer(), options.sendEveryMs ?? SEND_EVERY_MS);
    this.#sendTimer.unref();
  }

  static async open(options: AuditOptions): Promise<AuditLog> {
    const mark = await withinFile(options.dir, await readMark(options.dir));
    const audit = new AuditLog(options, mark);
    await audit.#prune();
    return audit;
  }

  /** Adds a call that has ended or was refused. */
  record(line: Omit<AuditLine, "timestamp">): void {
    const { secrets } = this.#options;
    const timestamp = new Date(this.#now()).toISOString();
    const recorded = auditLine({ timestamp, ...line } as AuditLine, secrets);
    this.#recent.push(recorded);
    if (this.#recent.length > AUDIT_RECENT) this.#recent.shift();
    this.#unwritten.push(`${visibleJson(recorded)}\n`);
    this.#writeTimer ??= setTimeout(() => void this.#write(), WRITE_AFTER_MS);
    this.#offerSoon();
  }

  /** A person follows the record for `ms` from now on: lines are sent within seconds. */
  follow(ms: number): void {
    this.#followedUntil = performance.now() + Math.min(ms, FOLLOWED_MAX_MS);
    this.#offerSoon();
  }

  #offerSoon(): void {
    const now = performance.now();
    if (this.#soon || now >= this.#followedUntil) return;
    const { afterMs, everyMs } = this.#options.followed ?? {
      afterMs: FOLLOWED_AFTER_MS,
      everyMs: FOLLOWED_EVERY_MS,
    };
    const wait = Math.max(afterMs, this.#offeredAt + everyMs - now);
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      // A batch that got lost is sent again.
      void this.offer().then(() => this.#sent && this.#offerSoon());
    }, wait).unref();
  }

  /** Recent lines, the newest first. */
  recent(filter: { tool?: string | undefined; limit?: number | undefined } = {}): AuditLine[] {
    const { tool, limit = AUDIT_RECENT } = filter;
    return this.#recent
      .filter((line) => tool === undefined || line.tool === tool)
      .reverse()
      .slice(0, limit);
  }

  /** Sends the gateway the next batch of lines that it does not have yet. */
  async offer(): Promise<void> {
    this.#offeredAt = performance.now();
    await this.#write();
    try {
      const batch = await this.#next();
      if (!batch) return;
      this.#sent = { id: batch.id, until: batch.until };
      this.#options.send({ type: "audit", request_id: batch.id, lines: batch.lines });
    } catch (error) {
      this.#options.log("warn", "audit.unread", { error: messageOf(error) });
    }
  }

  /** The gateway has a batch. @returns false when the id is not of a batch */
  acked(id: string): boolean {
    const sent = this.#sent;
    if (sent?.id !== id) return false;
    this.#sent = undefined;
    this.#mark = sent.until;
    this.#writing = this.#writing.then(() => this.#keepMark(sent.until));
    // More lines may wait than one batch holds.
    void this.offer();
    return true;
  }

  async #keepMark(mark: Mark): Promise<void> {
    try {
      await writeAtomic(markFile(this.#options.dir), JSON.stringify(mark));
    } catch (error) {
      this.#options.log("warn", "audit.mark_lost", { error: messageOf(error) });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sendTimer);
    clearTimeout(this.#soon);
    await this.#write();
  }

  #write(): Promise<void> {
    clearTimeout(this.#writeTimer);
    this.#writeTimer = undefined;
    const lines = this.#unwritten.splice(0);
    if (lines.length > 0) this.#writing = this.#writing.then(() => this.#append(lines.join("")));
    return this.#writing;
  }

  async #append(text: string): Promise<void> {
    const { dir, log } = this.#options;
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const day = this.#today();
      const path = fileOf(dir, day);
      const isNew = !(await days(dir)).includes(day);
      // A line that a power cut or a full disk tore must not spoil the next one.
      const lead = day === this.#wholeDay || (await endsWhole(path)) ? "" : "\n";
      this.#wholeDay = undefined;
      await appendFile(path, lead + text, { mode: 0o600 });
      this.#wholeDay = day;
      if (isNew) await this.#prune();
    } catch (error) {
      // A full disk must not stop the tools. The lines stay in memory, and this is logged.
      log("error", "audit.unwritten", { error: messageOf(error) });
    }
  }

  /** The same lines make a batch of the same name, also after a restart. A batch with more lines replaces it. */
  async #next(): Promise<{ id: string; lines: AuditLine[]; until: Mark } | undefined> {
    const { dir } = this.#options;
    for (const day of (await days(dir)).filter((each) => each >= this.#mark.day)) {
      const offset = day === this.#mark.day ? this.#mark.offset : 0;
      const bytes = await readFrom(fileOf(dir, day), offset, BATCH_BYTES);
      // A line that is cut at the end, by the batch's size or a power cut, is left for the next batch.
      const end = bytes.lastIndexOf(10) + 1;
      if (end === 0) continue;
      const { lines, used } = firstLines(bytes.subarray(0, end));
      const until = { day, offset: offset + used };
      if (lines.length > 0) return { id: batchName(day, offset, lines), lines, until };
      this.#mark = until;
    }
    return undefined;
  }

  async #prune(): Promise<void> {
    const { dir } = this.#options;
    const oldest = new Date(this.#now() - KEEP_DAYS * 86_400_000).toISOString().slice(0, 10);
    for (const day of await days(dir)) if (day < oldest) await rm(fileOf(dir, day), { force: true });
  }

  #today(): string {
    return new Date(this.#now()).toISOString().slice(0, 10);
  }
}

function batchName(day: string, offset: number, [first]: readonly AuditLine[]): string {
  const hash = createHash("sha256").update(JSON.stringify(first)).digest("hex").slice(0, 12);
  return `audit-${day}-${offset}-${hash}`;
}

/** Reads as many lines as a batch takes. Unreadable lines (torn writes) are skipped. */
function firstLines(bytes: Buffer): { lines: AuditLine[]; used: number } {
  const lines: AuditLine[] = [];
  let used = 0;
  while (used < bytes.length && lines.length < AUDIT_BATCH_LINES) {
    const end = bytes.indexOf(10, used);
    const line = checkJson(AuditLine, bytes.toString("utf8", used, end));
    if (line.ok) lines.push(line.value);
    used = end + 1;
  }
  return { lines, used };
}

async function readFrom(path: string, offset: number, length: number): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** True if the file ends with a whole line, is empty or does not exist. */
async function endsWhole(path: string): Promise<boolean> {
  const size = await sizeOf(path);
  return size === 0 || (await readFrom(path, size - 1, 1))[0] === 10;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** The mark is synced and the lines are not. After a power cut the mark may be beyond the end, where new lines will be. */
async function withinFile(dir: string, { day, offset }: Mark): Promise<Mark> {
  return { day, offset: Math.min(offset, await sizeOf(fileOf(dir, day))) };
}

/** The days of the existing files, oldest first. */
async function days(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  return names.flatMap((name) => DAY.exec(name)?.[1] ?? []).sort();
}

function fileOf(dir: string, day: string): string {
  return join(dir, `audit-${day}.jsonl`);
}

function markFile(dir: string): string {
  return join(dir, "sent.json");
}

async function readMark(dir: string): Promise<Mark> {
  try {
    const { day, offset } = JSON.parse(await readFile(markFile(dir), "utf8")) as Partial<Mark>;
    if (typeof day === "string" && Number.isSafeInteger(offset)) return { day, offset: offset as number };
  } catch {
    // Without a mark, or with a torn one, lines that the gateway already has are sent once more.
  }
  return { day: "", offset: 0 };
}
