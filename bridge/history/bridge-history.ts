/**
 * Keeps what hosted devices report, at home, and answers Home's questions about it. Only new values count: one that the broker had
 * kept, or that our file had, tells of no moment.
 */
import { closestReading } from "@edgecall/core/history/closest-reading.ts";
import { lineOf } from "@edgecall/core/history/drawing.ts";
import { drawnPieces, piecesOf } from "@edgecall/core/history/pieces.ts";
import { timesOf } from "@edgecall/core/history/question.ts";
import { isMoment, type Sample, type SeriesInfo } from "@edgecall/core/history/sample.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { EarlierPast, SourcedReading, SourceName } from "@edgecall/discovery/model/device.ts";
import type { Past } from "@edgecall/discovery/model/entity/entity.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import { keptValue } from "@edgecall/node/history/keeper.ts";
import { type EarlierValues, PastReader } from "@edgecall/node/history/past-reader.ts";
import { notKeptText } from "@edgecall/node/history/past-reply.ts";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import type { Slice } from "@edgecall/node/history/store.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { GatewayLink } from "../gateway/gateway.ts";
import { drawChart } from "./chart.ts";
import { replyOf } from "./past-reply.ts";

const MAX_BYTES = 200_000_000;
/** Silence can make a value unavailable, so all are looked at so often. */
const LOOK_MS = 10_000;
/** What is no value that changes over days, or may be anybody's words. */
const LEFT_OUT = ["camera", "image", "text", "update"];

type BridgeHistoryParts = {
  folder: string;
  /** Days that are kept. */
  days: number;
  catalog: Pick<DeviceCatalog, "earlierOf" | "keysOf" | "mark" | "sourcedReadings">;
  /** A source is asked for the time before ours. @returns why it does not answer */
  ask(source: SourceName, question: Past): Promise<{ response: unknown } | { why: string }>;
  /** The device's key by its agent's id; undefined: no hosted device has it. */
  keyOf(agent: string): string | undefined;
  clock: Clock;
  gateway: Pick<GatewayLink, "send">;
  log: Log;
};

/** @property since the first value (epoch ms) */
export type KeptPast = Pick<Slice, "samples" | "gaps"> & { since: number };

export class BridgeHistory {
  readonly #parts: BridgeHistoryParts;
  readonly #recorder: HistoryRecorder;
  readonly #reader: PastReader;
  /** The message that brought the value that was looked at last, by device and reading. */
  readonly #seen = new Map<string, Map<string, number>>();
  /** The sources that are connected, with the last message before: what came until then may have changed since. */
  readonly #up = new Map<SourceName, number>();
  /** Monotonic ms. */
  #lookAt = 0;
  #work: Promise<unknown> = Promise.resolve();
  #isBusy = false;

  private constructor(parts: BridgeHistoryParts, recorder: HistoryRecorder) {
    this.#parts = parts;
    this.#recorder = recorder;
    this.#reader = new PastReader(recorder.store);
  }

  static async open(parts: BridgeHistoryParts): Promise<BridgeHistory> {
    const { folder, days, clock, log } = parts;
    const recorder = await HistoryRecorder.open({ folder, days, maxBytes: MAX_BYTES, clock, log });
    const history = new BridgeHistory(parts, recorder);
    history.#inOrder(() => recorder.store.resume());
    return history;
  }

  /** The catalog has read a message. @param readBy the parts that it is about */
  onMessage(readBy: () => readonly Part[]): void {
    if (this.#up.size === 0) return;
    const { catalog, clock } = this.#parts;
    for (const key of catalog.keysOf(readBy(), clock.wall())) this.#look(key);
  }

  /** A source of devices is connected. */
  sourceUp(source: SourceName): void {
    const { catalog, clock } = this.#parts;
    this.#up.set(source, catalog.mark(clock.wall()).message);
    this.#recorder.begin();
  }

  /** Nothing is known of its devices until new values come. */
  sourceLost(source: SourceName): void {
    this.#up.delete(source);
    for (const key of this.#seen.keys()) this.#look(key);
  }

  /** Call it every second. */
  tick(): void {
    const now = this.#parts.clock.now();
    if (now >= this.#lookAt && this.#up.size > 0) {
      this.#lookAt = now + LOOK_MS;
      for (const key of this.#seen.keys()) this.#look(key);
    }
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#inOrder(() => this.#recorder.tick());
    this.#inOrder(async () => {
      this.#isBusy = false;
    });
  }

  /** A person has removed the device: its past goes too. */
  forget(key: string): void {
    this.#seen.delete(key);
    this.#inOrder(() => this.#recorder.forget(key));
  }

  async onPast({ id, question }: Extract<HomeFrame, { t: "past" }>): Promise<void> {
    const reply = await this.answer(question).catch((error: unknown): PastReply => {
      this.#parts.log("error", "history.not_read", { error: messageOf(error) });
      return { error: "the home's bridge could not read what it keeps" };
    });
    this.#parts.gateway.send({ t: "past", id, reply });
  }

  async answer(question: PastQuestion): Promise<PastReply> {
    const { catalog, clock, keyOf } = this.#parts;
    const key = keyOf(question.agent);
    if (key === undefined) return { error: `agent_id: the home's bridge has no device ${question.agent}` };
    const now = this.#recorder.now();
    const present = (catalog.sourcedReadings(key, clock.wall()) ?? []).filter(isKept);
    const all = [...present.map((reading) => infoOf(key, reading)), ...this.#recorder.readingsOf(key)];
    const names = [...new Set(all.map(({ reading }) => reading))];
    const name = closestReading(question.reading, names);
    const info = all.find(({ reading }) => reading === name);
    if (!info) return { error: notKeptText(question.reading, names) };
    const example = present.find((reading) => reading.name === name)?.value ?? null;
    const { ask, is, by, zone } = question;
    const earlier = catalog.earlierOf(key, info.reading, clock.wall());
    const { since } = this.#reader;
    const times = timesOf(question, now, earlier ? (since ?? now) - earlier.reachMs : since);
    if (!times.ok) return { error: times.error };
    const before = earlier && { reachMs: earlier.reachMs, read: this.#earlierValues(earlier) };
    const asked = { ask, is, by, zone, ...times.value, info, example, earlier: before };
    const found = await this.#reader.find(asked);
    if (!found.ok) return { error: found.error };
    const { answer, kept } = found.value;
    const { from, to } = asked;
    if (question.line && ask === "chart" && !isMoment(info))
      return {
        ...(await replyOf(answer, question, now, undefined)),
        line: lineOf(drawnPieces(piecesOf(kept, { from, to }), { from, to }), { from, to }),
      };
    const isDrawn = ask === "chart" && answer.facts.known_ms > 0;
    const title = `${question.name}: ${info.reading}`;
    const picture = isDrawn ? drawChart({ title, info, ...kept, from, to, zone }) : undefined;
    return await replyOf(answer, question, now, picture);
  }

  /**
   * What is kept of a device's reading, from the value that held at `from` on; undefined: nothing is kept of it. Times are epoch ms.
   */
  async kept(key: string, reading: string, from: number, to: number): Promise<KeptPast | undefined> {
    const { catalog, clock } = this.#parts;
    const present = (catalog.sourcedReadings(key, clock.wall()) ?? []).filter(isKept);
    const all = [...present.map((one) => infoOf(key, one)), ...this.#recorder.readingsOf(key)];
    const info = all.find((one) => one.reading === reading);
    if (!info) return undefined;
    const { samples, gaps } = await this.#recorder.store.read(info, from, to);
    const [first] = samples;
    return first && { samples, gaps, since: first.at };
  }

  /** Values that the source has kept by itself. */
  #earlierValues({ source, ask, values }: EarlierPast): EarlierValues["read"] {
    return async (begin, end) => {
      const answer = await this.#parts.ask(source, ask(begin, end));
      if ("why" in answer) return undefined;
      return values(answer.response).flatMap(({ at, value }): Sample[] => {
        const known = value === null ? null : keptValue(value);
        return known === undefined || at >= end ? [] : [{ at, value: known }];
      });
    };
  }

  async stop(): Promise<void> {
    await this.#work;
    await this.#recorder.stop();
  }

  #look(key: string): void {
    const { catalog, clock } = this.#parts;
    const readings = catalog.sourcedReadings(key, clock.wall())?.filter(isKept);
    const seen = this.#seen.get(key) ?? new Map<string, number>();
    if (readings && readings.length > 0) this.#seen.set(key, seen);
    const present = new Set<string>();
    for (const reading of readings ?? []) {
      const info = infoOf(key, reading);
      const { name, message, value, retained, unavailable, from } = reading;
      const before = this.#up.get(from);
      present.add(name);
      if (unavailable || value === null || before === undefined) this.#recorder.absent(info);
      else if (!retained && message > before && message !== seen.get(name)) this.#recorder.came(info, value);
      seen.set(name, message);
    }
    for (const info of this.#recorder.readingsOf(key))
      if (!present.has(info.reading)) this.#recorder.absent(info);
  }

  /** One after the other: each writes files. */
  #inOrder(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#parts.log("error", "history.failed", { error: messageOf(error) });
    });
  }
}

/** Free text is a stranger's, and a picture is none of these values. */
function isKept({ tainted, kind }: SourcedReading): boolean {
  return !tainted && !LEFT_OUT.includes(kind);
}

function infoOf(device: string, { name, unit, class: of, kind }: SourcedReading): SeriesInfo {
  return {
    device,
    reading: name,
    kind,
    ...(unit !== undefined && { unit }),
    ...(of !== undefined && { class: of }),
  };
}
