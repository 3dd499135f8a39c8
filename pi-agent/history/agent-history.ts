/**
 * Keeps what this agent reads of itself, where its settings name readings: those, every five minutes, and what its rules look at anyway.
 * It answers the home's questions about them. Without named readings nothing of this is loaded.
 */
import { join } from "node:path";
import { closestReading } from "@edgecall/core/history/closest-reading.ts";
import { timesOf } from "@edgecall/core/history/question.ts";
import type { SeriesInfo } from "@edgecall/core/history/sample.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { systemClock } from "@edgecall/node/clock.ts";
import { PastReader } from "@edgecall/node/history/past-reader.ts";
import { modelText, notKeptText, replyWith } from "@edgecall/node/history/past-reply.ts";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

const FOLDER = "history";
const DAYS = 400;
const MAX_BYTES = 20_000_000;
const READ_MS = windowMs(300_000, 1_000);
/** Of the recorder, which writes each five minutes, or one after a state changed. */
const TICK_MS = 1_000;

/** @property unit of the value @property field absent: the reading has this one value */
type ReadValue = { field?: string; value: string | number | boolean; unit?: string };
/** What an action returned; undefined: it failed. */
export type ReadValues = readonly ReadValue[] | undefined;

type AgentHistoryParts = {
  agentId: string;
  stateDir: string;
  /** Names of the actions that are read. */
  readings: readonly string[];
  /** Reads an action, and gives `came` what it returned. */
  read(action: string): Promise<void>;
  log: Log;
};

export class AgentHistory {
  readonly #parts: AgentHistoryParts;
  readonly #recorder: HistoryRecorder;
  readonly #reader: PastReader;
  /** By action: what its values are called. */
  readonly #known = new Map<string, Map<string, SeriesInfo>>();
  /** By action: when it was read last (monotonic ms), by a rule too. */
  readonly #readAt = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #isBusy = false;
  #isStopped = false;

  private constructor(parts: AgentHistoryParts, recorder: HistoryRecorder) {
    this.#parts = parts;
    this.#recorder = recorder;
    this.#reader = new PastReader(recorder.store);
    recorder.begin();
    this.#timer = setInterval(() => void this.#tick(), TICK_MS);
  }

  static async open(parts: AgentHistoryParts): Promise<AgentHistory> {
    const { stateDir, log } = parts;
    const folder = join(stateDir, FOLDER);
    const options = { folder, days: DAYS, maxBytes: MAX_BYTES, clock: systemClock, log };
    const recorder = await HistoryRecorder.open(options);
    await recorder.store.resume();
    return new AgentHistory(parts, recorder);
  }

  /** An action was read. */
  came(action: string, values: ReadValues): void {
    if (this.#isStopped) return;
    this.#readAt.set(action, performance.now());
    const known = this.#known.get(action) ?? new Map<string, SeriesInfo>();
    this.#known.set(action, known);
    const present = new Set<string>();
    for (const { field, value, unit } of values ?? []) {
      // A text that is more than a label may be anybody's words.
      if (typeof value === "string" && !isLabel(value)) continue;
      const reading = field === undefined ? action : `${action} ${field}`;
      const info: SeriesInfo = {
        device: this.#parts.agentId,
        reading,
        kind: typeof value === "boolean" ? "binary_sensor" : "sensor",
        ...(unit !== undefined && { unit }),
      };
      known.set(reading, info);
      present.add(reading);
      this.#recorder.came(info, value);
    }
    for (const [reading, info] of known) if (!present.has(reading)) this.#recorder.absent(info);
  }

  /** @returns what is wrong with a question, in words */
  problem(payload: unknown): string | undefined {
    const checked = check(PastQuestion, payload);
    return checked.ok ? undefined : `payload.${checked.error}`;
  }

  /** @param payload a question without a problem @returns in words, or why there is no answer */
  async answer(payload: unknown): Promise<PastReply> {
    const checked = check(PastQuestion, payload);
    if (!checked.ok) return { error: checked.error };
    const question = checked.value;
    const { agentId } = this.#parts;
    const now = this.#recorder.now();
    const all = this.#recorder.readingsOf(agentId);
    const names = [...new Set(all.map(({ reading }) => reading))];
    const name = closestReading(question.reading, names);
    const info = all.findLast(({ reading }) => reading === name);
    if (!info) return { error: notKeptText(question.reading, names) };
    const times = timesOf(question, now, this.#reader.since);
    if (!times.ok) return { error: times.error };
    const { ask, is, by, zone } = question;
    const found = await this.#reader.find({ ask, is, by, zone, ...times.value, info, example: null });
    if (!found.ok) return { error: found.error };
    const { answer } = found.value;
    return replyWith(modelText(answer, question, now, { keeper: "agent" }), answer);
  }

  /** Writes what waits, and ends. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#recorder.stop();
  }

  async #tick(): Promise<void> {
    if (this.#isBusy || this.#isStopped) return;
    this.#isBusy = true;
    try {
      await this.#recorder.tick();
      const { readings, read } = this.#parts;
      const before = performance.now() - READ_MS;
      const due = readings.filter(
        (action) => (this.#readAt.get(action) ?? Number.NEGATIVE_INFINITY) <= before,
      );
      await Promise.all(due.map(read));
    } catch (error) {
      this.#parts.log("error", "history.failed", { error: messageOf(error) });
    } finally {
      this.#isBusy = false;
    }
  }
}
