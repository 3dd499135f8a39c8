/**
 * Sends to Home: the answers to calls at once; a snapshot of the agents after each welcome, and after it
 * their changes, reports and events.
 */
import type { BridgeFrame, Refusal } from "@edgecall/core/protocol/frames.ts";
import type { Log } from "@edgecall/node/log.ts";
import { BROKER_GRACE_MS, type Roster } from "../broker/presence.ts";
import type { BufferedReport, ReportBuffer } from "../broker/report-buffer.ts";
import type { Clock } from "../clock.ts";
import type { Counts } from "../ops/counts.ts";
import type { GatewayLink } from "./gateway.ts";
import { snapshotFrames } from "./snapshot.ts";

/** Changes this close together (birth, advert and tools of one agent) go out as one. */
const COALESCE_MS = 20;
/** The broker sends its retained topics right after it granted the subscription. */
export const RETAINED_WITHIN_MS = 150;
/** Events that wait while Home is away: progress older than this many messages is of no use. */
const EVENTS_MAX = 100;

type EventFrame = Extract<BridgeFrame, { t: "event" }>;

export type OutboxParts = {
  gateway: Pick<GatewayLink, "up" | "send">;
  roster: Roster;
  reports: ReportBuffer;
  counts: Counts;
  clock: Clock;
  log: Log;
};

export class HomeOutbox {
  readonly #parts: OutboxParts;
  readonly #events: EventFrame[] = [];
  /** Home has this connection's snapshot. Before that there is nothing that a change could refer to. */
  #hasSnapshot = false;
  /** Monotonic ms from which the roster holds what the broker has retained. */
  #rosterBy: number;
  #changesTimer: NodeJS.Timeout | undefined;
  #snapshotTimer: NodeJS.Timeout | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#rosterBy = parts.clock.now() + BROKER_GRACE_MS;
  }

  /** Events that wait for Home. */
  get waiting(): number {
    return this.#events.length;
  }

  /** The broker has the call, or the call waits for its turn; in the latter case a refusal may still follow. */
  taken(id: string): void {
    this.#answer({ t: "taken", id });
  }

  /** The call has certainly not run. */
  refuse(id: string, code: Refusal, message: string, retryAfterMs?: number): void {
    this.#parts.log("info", "call.refused", { id, code });
    const retry = retryAfterMs !== undefined && { retry_after_ms: Math.ceil(retryAfterMs) };
    this.#answer({ t: "refused", id, code, message: message.slice(0, 1_000), ...retry });
  }

  report(report: BufferedReport): void {
    // Home has to know of an agent's new run before its report: the ack is for that run.
    if (this.#parts.roster.hasUnsentRun(report.agent)) this.sendChanges();
    this.#answer({ t: "report", ...report });
  }

  event(frame: EventFrame): void {
    if (this.#hasSnapshot && this.#parts.gateway.send(frame)) return;
    this.#events.push(frame);
    if (this.#events.length <= EVENTS_MAX) return;
    // The agent with the most events loses its oldest, so one that never stops pushes out only its own.
    const agents = Object.entries(Object.groupBy(this.#events, ({ agent }) => agent));
    const [most] = agents.reduce((a, b) => ((b[1]?.length ?? 0) > (a[1]?.length ?? 0) ? b : a));
    this.#events.splice(
      this.#events.findIndex(({ agent }) => agent === most),
      1,
    );
  }

  /** Counts and logs what answers a call, so that a call can be followed by its id. */
  #answer(frame: Extract<BridgeFrame, { t: "taken" | "refused" | "report" }>): void {
    const { counts, clock, gateway, log } = this.#parts;
    const ms = counts.sent(frame, clock.now());
    if (ms !== undefined && frame.t === "report")
      log("info", "call.answered", { id: frame.id, agent: frame.agent, ms: Math.round(ms) });
    gateway.send(frame);
  }

  /** The gateway has welcomed this bridge. */
  welcomed(): void {
    // Before the broker's retained topics have come, a snapshot would tell Home that every agent is gone.
    const wait = Math.max(0, this.#rosterBy - this.#parts.clock.now());
    if (wait === 0) this.#sendSnapshot();
    // The broker may be up before that, so look again soon.
    else this.#snapshotTimer = setTimeout(() => this.welcomed(), Math.min(wait, COALESCE_MS));
  }

  /** The connection to the gateway is lost. */
  lost(): void {
    this.#hasSnapshot = false;
    clearTimeout(this.#snapshotTimer);
  }

  /** The broker is up: its retained topics follow. */
  brokerUp(): void {
    this.#rosterBy = Math.min(this.#rosterBy, this.#parts.clock.now() + RETAINED_WITHIN_MS);
  }

  /** The broker was asked for its retained topics once more. */
  retainedAgain(): void {
    this.#rosterBy = Math.max(this.#rosterBy, this.#parts.clock.now() + RETAINED_WITHIN_MS);
  }

  sendChangesSoon(): void {
    this.#changesTimer ??= setTimeout(() => {
      this.#changesTimer = undefined;
      this.sendChanges();
    }, COALESCE_MS);
  }

  sendChanges(): void {
    const { gateway, roster } = this.#parts;
    if (!this.#hasSnapshot || !gateway.up) return;
    for (const change of roster.changes()) {
      if (change.kind === "gone") gateway.send({ t: "gone", agent: change.id });
      else gateway.send({ t: "agent", agent: change.agent });
    }
  }

  stop(): void {
    clearTimeout(this.#changesTimer);
    clearTimeout(this.#snapshotTimer);
  }

  #sendSnapshot(): void {
    const { gateway, roster, log } = this.#parts;
    for (const frame of snapshotFrames(roster.snapshot())) gateway.send(frame);
    this.#hasSnapshot = true;
    this.#resendReports().catch((error) => log("error", "report.resend_failed", { error: String(error) }));
    for (const event of this.#events.splice(0)) gateway.send(event);
  }

  /** Sends unacked reports one after the other: all at once could be more than the line is allowed to hold. */
  async #resendReports(): Promise<void> {
    const { gateway, reports } = this.#parts;
    for (const report of reports.all()) {
      if (reports.get(report.agent, report.id) !== report) continue;
      const sent = await new Promise<boolean>((resolve) => {
        if (!gateway.send({ t: "report", ...report }, (error) => resolve(!error))) resolve(false);
      });
      if (!sent) return;
    }
  }
}
