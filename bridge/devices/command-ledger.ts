/**
 * The commands that were sent to hosted devices, on disk. A device knows no ids of calls, so the bridge itself has to recognise
 * a call that it has sent before, also after it was killed.
 *
 *   begun ── on disk before anything is published ──▶ sent ──▶ done (with the report) ──▶ acked (Home has it)
 *     └── the bridge ended here or there: nobody knows, or nothing confirms it. It is never published again
 */
import { LEDGER_KEEP_MS } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { type Clock, SteadyTime } from "@edgecall/node/clock.ts";
import type { LedgerStorage } from "@edgecall/node/ledger-file.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { BufferedReport } from "../broker/report-buffer.ts";

/** Commands whose report Home has not stored. With more, nothing further is sent. */
const OPEN_MAX = 1_000;
/** The ids of a busy day. Beyond these the oldest are forgotten first. */
const ENTRIES_MAX = 5_000;
/** The whole file is read at the start, so it must stay small. It is written anew when it has this much, and twice what it needs. */
const COMPACT_BYTES = 1024 * 1024;
/** A clock before this (2024-01-01) was never set. Ages then count from when the entry was read. */
const PLAUSIBLE_FROM = 1_704_067_200_000;

const id = z.string();
const at = z.number();

const Begun = z.object({
  t: z.literal("begun"),
  id,
  at,
  agent: z.string(),
  action: z.string(),
  /** The device's name, for a person. */
  device: z.string(),
  /** The words for when it was sent, if nothing ever confirms such a command. */
  unconfirmable: z.optional(z.string()),
  /** Of the command: the report carries it. */
  route: z.optional(z.string()),
  /** It is the bridge's own, and Home knows nothing of it. */
  own: z.optional(z.literal(true)),
});

const Line = z.discriminatedUnion("t", [
  Begun,
  /** The broker has the command, or may have it. */
  z.object({ t: z.literal("sent"), id }),
  z.object({ t: z.literal("done"), id, report: z.string() }),
  z.object({ t: z.literal("acked"), id }),
  /** Nothing was sent after all. */
  z.object({ t: z.literal("void"), id }),
]);
type Line = z.infer<typeof Line>;

export type CommandBegun = Omit<z.infer<typeof Begun>, "t" | "at">;

export type CommandEntry = {
  begun: z.infer<typeof Begun>;
  state: "begun" | "sent" | "done" | "acked";
  /** Until Home has it. */
  report?: string | undefined;
};

export class DeviceLedger {
  readonly #storage: LedgerStorage;
  readonly #log: Log;
  readonly #time: SteadyTime;
  readonly #entries = new Map<string, CommandEntry>();
  /** Writes run one after another. */
  #queue: Promise<unknown> = Promise.resolve();
  #bytes = 0;
  #compactAbove = COMPACT_BYTES;
  /** The reason why the file could not be read: without it a command could be sent twice. */
  #unreadable: string | undefined;

  private constructor(storage: LedgerStorage, log: Log, clock: Clock) {
    this.#storage = storage;
    this.#log = log;
    this.#time = new SteadyTime(clock);
  }

  static async open(storage: LedgerStorage, log: Log, clock: Clock): Promise<DeviceLedger> {
    const ledger = new DeviceLedger(storage, log, clock);
    try {
      ledger.#read(await storage.load());
      await ledger.#compact();
    } catch (error) {
      ledger.#unreadable = messageOf(error);
      log("error", "devices.ledger_unreadable", { error: messageOf(error) });
    }
    return ledger;
  }

  get(id: string): CommandEntry | undefined {
    return this.#entries.get(id);
  }

  /** Commands of Home that the bridge before this one had begun, and whose outcome it did not report. */
  interrupted(): CommandEntry[] {
    return [...this.#entries.values()].filter(
      ({ begun, state }) => begun.own === undefined && (state === "begun" || state === "sent"),
    );
  }

  /** Commands of the bridge's own that are not settled. */
  own(): CommandEntry[] {
    return [...this.#entries.values()].filter(({ begun, state }) => begun.own && state !== "acked");
  }

  /** Reports that Home has not stored. */
  unacked(): BufferedReport[] {
    return [...this.#entries.values()].flatMap(({ begun, state, report }) =>
      begun.own === undefined && state === "done" && report !== undefined
        ? [{ id: begun.id, agent: begun.agent, payload: report }]
        : [],
    );
  }

  /** Call it before anything is published. @returns why nothing may be sent; undefined: the command is on disk */
  async begin(command: CommandBegun): Promise<string | undefined> {
    if (this.#unreadable !== undefined) return this.#unreadable;
    const open = [...this.#entries.values()].filter(({ state }) => state !== "acked");
    if (open.length >= OPEN_MAX) return `${open.length} commands have no stored outcome yet`;
    const begun = { t: "begun" as const, at: this.#wall(), ...command };
    this.#entries.set(command.id, { begun, state: "begun" });
    this.#forgetOldest();
    const failure = await this.#write(begun, true);
    // The line may be in the file all the same.
    if (failure !== undefined) this.void(command.id);
    return failure;
  }

  /** The broker has the command, or may have it. */
  sent(id: string): void {
    this.#follow({ t: "sent", id });
  }

  /** The command certainly reached nobody, so a copy of the call may be sent. */
  void(id: string): void {
    this.#follow({ t: "void", id });
  }

  done(id: string, report: string): void {
    this.#follow({ t: "done", id, report });
  }

  acked(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.state === "done" && entry.begun.own === undefined) this.#follow({ t: "acked", id });
  }

  /** The outcome of a command of the bridge's own is kept elsewhere, or wanted no more. */
  settle(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.begun.own && entry.state !== "acked") this.#follow({ t: "acked", id });
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#storage.close();
  }

  #follow(line: Exclude<Line, { t: "begun" }>): void {
    if (!this.#apply(line)) return;
    void this.#write(line, false);
  }

  /** @returns false if it changes nothing */
  #apply(line: Line): boolean {
    if (line.t === "begun") {
      this.#entries.set(line.id, { begun: line, state: "begun" });
      return true;
    }
    const entry = this.#entries.get(line.id);
    if (!entry) return false;
    if (line.t === "void") this.#entries.delete(line.id);
    else entry.state = line.t;
    entry.report = line.t === "done" ? line.report : undefined;
    return true;
  }

  #read(bytes: Buffer): void {
    const now = this.#wall();
    let torn = 0;
    // A power cut may leave zeros in place of what was not synced, right behind what was.
    for (const text of bytes.toString("utf8").split(/[\n\0]+/)) {
      if (text === "") continue;
      const line = checkJson(Line, text);
      if (!line.ok) torn += 1;
      else if (line.value.t === "begun")
        this.#apply({ ...line.value, at: line.value.at < PLAUSIBLE_FROM ? now : line.value.at });
      else this.#apply(line.value);
    }
    if (torn > 0) this.#log("warn", "devices.ledger_torn", { lines: torn });
  }

  /** @returns the fault, in words */
  #write(line: Line, isDurable: boolean): Promise<string | undefined> {
    const written = this.#queue.then(async () => {
      try {
        // A write that failed may have left half a line, and what follows may be lost: each begins and ends its own line.
        const bytes = Buffer.from(`\n${JSON.stringify(line)}\n`);
        await this.#storage.append(bytes);
        this.#bytes += bytes.length;
        if (isDurable) await this.#storage.sync();
        if (this.#bytes > this.#compactAbove) await this.#compact();
        return undefined;
      } catch (error) {
        this.#log("error", "devices.ledger_unwritten", { error: messageOf(error) });
        return messageOf(error);
      }
    });
    this.#queue = written;
    return written;
  }

  async #compact(): Promise<void> {
    const now = this.#wall();
    for (const [id, { begun }] of this.#entries)
      if (now - begun.at > LEDGER_KEEP_MS) this.#entries.delete(id);
    const lines = [...this.#entries.values()].flatMap(linesOf).map((line) => `\n${JSON.stringify(line)}\n`);
    const bytes = Buffer.from(lines.join(""));
    await this.#storage.replace(bytes);
    this.#bytes = bytes.length;
    this.#compactAbove = Math.max(COMPACT_BYTES, 2 * bytes.length);
  }

  /** Epoch ms. A clock that was set makes no command older or younger: one that is forgotten too early could be sent again. */
  #wall(): number {
    const { at, setBy } = this.#time.read();
    if (setBy === 0) return at;
    for (const entry of this.#entries.values()) entry.begun = { ...entry.begun, at: entry.begun.at + setBy };
    // The next write brings the new times to the disk.
    this.#compactAbove = 0;
    return at;
  }

  #forgetOldest(): void {
    if (this.#entries.size <= ENTRIES_MAX) return;
    for (const [id, { state }] of this.#entries) {
      if (state !== "acked") continue;
      this.#entries.delete(id);
      return;
    }
  }
}

function linesOf({ begun, state, report }: CommandEntry): Line[] {
  const { id } = begun;
  if (state === "begun") return [begun];
  if (state === "done" && report !== undefined) return [begun, { t: "done", id, report }];
  return [begun, { t: state === "sent" ? "sent" : "acked", id }];
}
