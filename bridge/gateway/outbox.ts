/**
 * Sends to Home: the answers to calls at once; a snapshot of the agents after each welcome, and after it
 * their changes, reports and events.
 */

import { DEVICES_A_FRAME_MAX } from "@edgecall/core/protocol/devices.ts";
import {
  type AgentState,
  type BridgeFrame,
  isTextKind,
  type Refusal,
  TEXT_KINDS,
  type TextKind,
} from "@edgecall/core/protocol/frames.ts";
import type { StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { AGENTS_MAX } from "@edgecall/core/protocol/names.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { CallSpans } from "../broker/call-spans.ts";
import { BROKER_GRACE_MS, type Roster, type RosterChange } from "../broker/presence.ts";
import type { BufferedReport, ReportBuffer } from "../broker/report-buffer.ts";
import type { ToHome } from "../broker/to-home.ts";
import type { Counts } from "../counts.ts";
import type { GatewayLink } from "./gateway.ts";
import { SentTexts } from "./sent-texts.ts";
import { inGroups, snapshotFrames } from "./snapshot.ts";

/** Changes this close together (birth, advert and tools of one agent) go out as one. */
const COALESCE_MS = 20;
/** While more changes come, the pause between two frames doubles up to this. Each frame has the last state of its agents. */
const GATHER_MS = 250;
/** After so long without a change, the next one goes out soon again. */
const QUIET_MS = 1_000;
/** The broker sends its retained topics right after it granted the subscription, each this soon after the one before. */
export const RETAINED_WITHIN_MS = 150;
/** A broker with many of them may pause longer in between. */
const RETAINED_MANY = 300;
const RETAINED_PAUSE_MS = 500;
/** While agents are missing whose texts Home has, the broker may not have begun: it may be this silent. */
const MISSING_WITHIN_MS = 2_000;
/** Retained topics of 10,000 agents take some seconds. A snapshot waits no longer. */
const RETAINED_MAX_MS = 20_000;
/** The log says this often that there are too many agents. */
const OVER_EVERY_MS = 600_000;
/** Frames of agents that Home has not stored yet. With more it would hold them all in memory, and answer nobody else. */
const AHEAD_MAX = 4;
/** Home does not say so? Then it goes on all the same. */
const STORED_WITHIN_MS = 10_000;
/** Events that wait while Home is away: progress older than this many messages is of no use. */
const EVENTS_MAX = 100;

type EventFrame = Extract<BridgeFrame, { t: "event" }>;

/** Devices of the broker as agents, as far as Home is told of them. */
export type HostedDevices = {
  /** Not all of them are known yet: a snapshot waits. */
  readonly isHeld: boolean;
  /** The gateway knows hosted devices. */
  readonly isWanted: boolean;
  has(id: string): boolean;
  /** Tells whether the texts of these kinds are there. */
  holds(id: string, kinds: readonly TextKind[]): boolean;
  snapshot(): AgentState[];
  /** The changes since the last time. */
  changes(): RosterChange[];
  /** Home has lost what it was sent of this one. */
  setUnsent(id: string): void;
};

export type OutboxParts = {
  gateway: Pick<GatewayLink, "up" | "send">;
  roster: Roster;
  /** Undefined: no devices are hosted. */
  devices?: HostedDevices | undefined;
  reports: ReportBuffer;
  counts: Counts;
  clock: Clock;
  log: Log;
  /** Undefined: nothing is traced. */
  spans?: CallSpans | undefined;
};

export type Greeting = {
  /** What Home has of the agents' texts; undefined: an older gateway does not say. */
  texts: readonly StoredTexts[] | undefined;
  /** Agents with a key. */
  keyed: readonly string[];
  /** The gateway says when it has stored a frame of agents. */
  hasFlowControl: boolean;
};

export class HomeOutbox implements ToHome {
  readonly #parts: OutboxParts;
  readonly #events: EventFrame[] = [];
  /** Home has this connection's snapshot. Before that there is nothing that a change could refer to. */
  #hasSnapshot = false;
  /** The snapshot is about to be sent, or on its way. Reports that come meanwhile are sent after it. */
  #isInSnapshot = false;
  /** Monotonic ms from which the roster holds what the broker has retained. */
  #rosterBy: number;
  #rosterAtMost = 0;
  /** The broker was asked for its retained topics once more, and has sent the first by then. */
  #againBy = 0;
  /** When the broker came up, or sent the last retained topic. Monotonic ms. */
  #retainedAt = 0;
  /** Agents of which Home has texts that the roster has not, as far as was looked, with the kinds of these texts. */
  #missing: { id: string; kinds: TextKind[] }[] = [];
  /** Agents with a key of which Home has no text, as far as the roster was not seen to have all of theirs. */
  #unseen: string[] = [];
  /** The roster has what Home has, and all agents with a key: nothing but a few others can still come. */
  #isWhole = false;
  /** Retained topics that came since the broker is up. */
  #retained = 0;
  /** What Home has; undefined: an older gateway wants all texts, and one frame for each agent. */
  #texts: SentTexts | undefined;
  /** Rises with each connection. What an earlier one still had to send is dropped. */
  #connection = 0;
  /** Changes go out one after the other, each when the line has taken the one before. */
  #sending: Promise<void> | undefined;
  #hasFlowControl = false;
  /** The number of the last frame of agents, and of the last that Home has stored. */
  #numbered = 0;
  #storedUpTo = 0;
  #onStored = () => {};
  /** When changes were sent last, monotonic ms. */
  #changedAt = 0;
  /** Until the next frame of changes, ms. */
  #pauseMs = COALESCE_MS;
  #saidOverAt: number | undefined;
  /** The count of agents without room that Home was told last. */
  #toldOver = 0;
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
  accepted(id: string): void {
    this.#answer({ t: "taken", id });
  }

  /** The call has certainly not run. */
  refuse(call: { id: string; agent: string }, code: Refusal, message: string, retryAfterMs?: number): void {
    const { id, agent } = call;
    this.#parts.log("info", "call.refused", { id, code });
    this.#parts.spans?.end(id, code);
    const retry = retryAfterMs !== undefined && { retry_after_ms: Math.ceil(retryAfterMs) };
    this.#answer({ t: "refused", id, agent, code, message: cutText(message, 1_000), ...retry });
  }

  report(report: BufferedReport): void {
    this.#parts.spans?.end(report.id);
    // Home has to know of an agent's new run before its report: the ack is for that run.
    const { roster } = this.#parts;
    if (this.#hasSnapshot && roster.hasUnsentRun(report.agent)) this.#sendNow(roster.changeOf(report.agent));
    this.#answer({ t: "report", ...report });
  }

  event(frame: EventFrame, isWhole = false): void {
    if (this.#hasSnapshot && this.#parts.gateway.send(frame)) return;
    if (isWhole) this.#withoutEvent(frame);
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

  /** Drops the one of this id that waits. */
  #withoutEvent({ id, agent }: EventFrame): void {
    const at = this.#events.findIndex((one) => one.id === id && one.agent === agent);
    if (at >= 0) this.#events.splice(at, 1);
  }

  /** Counts and logs what answers a call, so that a call can be followed by its id. */
  #answer(frame: Extract<BridgeFrame, { t: "taken" | "refused" | "report" }>): void {
    const { counts, clock, gateway, log } = this.#parts;
    const ms = counts.sent(frame, clock.now());
    if (ms !== undefined && frame.t === "report")
      log("info", "call.answered", { id: frame.id, agent: frame.agent, ms: Math.round(ms) });
    if (frame.t !== "report" || !this.#isInSnapshot) gateway.send(frame);
  }

  /** The gateway has welcomed this bridge. */
  welcomed({ texts, keyed, hasFlowControl }: Greeting): void {
    this.#texts = texts && new SentTexts(texts);
    this.#hasFlowControl = hasFlowControl;
    this.#missing = (texts ?? []).map(({ id, ...hashes }) => ({
      id,
      kinds: Object.keys(hashes).filter(isTextKind),
    }));
    const known = new Set(this.#missing.map(({ id }) => id));
    this.#unseen = texts ? keyed.filter((id) => !known.has(id)) : [];
    this.#isWhole = false;
    this.#connection += 1;
    this.#isInSnapshot = true;
    this.#sendSnapshotSoon();
  }

  #sendSnapshotSoon(): void {
    // Before the broker's retained topics have come, a snapshot would tell Home that every agent is gone.
    const wait = this.#retainedBy() - this.#parts.clock.now();
    if (wait > 0) {
      // The broker may be up before that, so look again soon.
      this.#snapshotTimer = setTimeout(() => this.#sendSnapshotSoon(), Math.min(wait, COALESCE_MS));
      return;
    }
    this.#sendSnapshot(this.#connection).catch((error) =>
      this.#parts.log("error", "snapshot.failed", { error: String(error) }),
    );
  }

  /** When the roster holds what the broker has retained, as far as is known by now. */
  #retainedBy(): number {
    const { roster, devices } = this.#parts;
    if (devices?.isHeld) return Number.POSITIVE_INFINITY;
    const isExpecting = this.#missing.length + this.#unseen.length > 0;
    const holds = (id: string, kinds: readonly TextKind[]) =>
      roster.holds(id, kinds) || devices?.holds(id, kinds) === true;
    dropLast(this.#missing, ({ id, kinds }) => holds(id, kinds));
    dropLast(this.#unseen, (id) => roster.holds(id, TEXT_KINDS));
    if (isExpecting) this.#isWhole = this.#missing.length + this.#unseen.length === 0;
    if (this.#isWhole) return Math.max(this.#retainedAt + COALESCE_MS, this.#againBy);
    if (this.#missing.length === 0) return this.#rosterBy;
    return Math.max(this.#rosterBy, Math.min(this.#retainedAt + MISSING_WITHIN_MS, this.#rosterAtMost));
  }

  /** The connection to the gateway is lost. */
  lost(): void {
    this.#hasSnapshot = false;
    this.#isInSnapshot = false;
    this.#connection += 1;
    this.#numbered = 0;
    this.stored(0);
    clearTimeout(this.#snapshotTimer);
  }

  /** Home has stored the frames of agents up to this one. */
  stored(n: number): void {
    this.#storedUpTo = n;
    this.#onStored();
  }

  /** The broker is up: its retained topics follow. */
  brokerUp(): void {
    const now = this.#parts.clock.now();
    this.#retained = 0;
    this.#retainedAt = now;
    this.#rosterBy = Math.min(this.#rosterBy, now + RETAINED_WITHIN_MS);
    this.#rosterAtMost = now + RETAINED_MAX_MS;
  }

  /** The broker was asked for its retained topics once more. */
  retainedAgain(): void {
    const now = this.#parts.clock.now();
    this.#againBy = now + RETAINED_WITHIN_MS;
    this.#rosterBy = Math.max(this.#rosterBy, this.#againBy);
    this.#rosterAtMost = now + RETAINED_MAX_MS;
  }

  /** A retained topic came, and others may follow. */
  retainedCame(): void {
    this.#retained += 1;
    this.#retainedAt = this.#parts.clock.now();
    const pause = this.#retained < RETAINED_MANY ? RETAINED_WITHIN_MS : RETAINED_PAUSE_MS;
    const by = Math.min(this.#parts.clock.now() + pause, this.#rosterAtMost);
    this.#rosterBy = Math.max(this.#rosterBy, by);
  }

  /** Home does not have what was left out of these agents. */
  onMissing(ids: readonly string[]): void {
    for (const id of ids) {
      this.#texts?.forget(id);
      this.#parts.roster.setUnsent(id);
      this.#parts.devices?.setUnsent(id);
    }
  }

  sendChangesSoon(): void {
    if (this.#changesTimer) return;
    const sinceLast = this.#parts.clock.now() - this.#changedAt;
    // An agent's adverts come right after its presence, and without them a call of a tool would be refused.
    this.#pauseMs = sinceLast > QUIET_MS ? COALESCE_MS : Math.min(2 * this.#pauseMs, GATHER_MS);
    this.#changesTimer = setTimeout(
      () => {
        this.#changesTimer = undefined;
        this.sendChanges("touched");
      },
      Math.max(COALESCE_MS, this.#pauseMs - sinceLast),
    );
  }

  /** @param which `all`: also agents that changed because time went by */
  sendChanges(which: "all" | "touched" = "all"): void {
    const { gateway, roster, devices } = this.#parts;
    if (!this.#hasSnapshot || !gateway.up) return;
    // The line has not taken the last changes yet. These wait, and with them go the last states.
    if (this.#sending) {
      this.sendChangesSoon();
      return;
    }
    const changes = [...this.#withoutDevices(roster.changes(which)), ...(devices?.changes() ?? [])];
    const frames = this.#framesOf(changes);
    if (frames.length === 0) return;
    this.#changedAt = this.#parts.clock.now();
    this.#sayOver();
    this.#sending = this.#sendInTurn(frames, this.#connection)
      .then(() => {})
      .finally(() => {
        this.#sending = undefined;
      });
  }

  /** An agent that the home does not serve takes no device's name. */
  #withoutDevices(changes: readonly RosterChange[]): RosterChange[] {
    const { devices } = this.#parts;
    return changes.filter((change) => !devices?.has(change.kind === "gone" ? change.id : change.agent.id));
  }

  #sendNow(changes: readonly RosterChange[]): void {
    for (const frame of this.#framesOf(changes)) this.#parts.gateway.send(frame);
  }

  #framesOf(changes: readonly RosterChange[]): BridgeFrame[] {
    const { roster, devices } = this.#parts;
    const { over } = roster;
    const texts = this.#texts;
    const gone = changes.flatMap((change) => (change.kind === "gone" ? [change.id] : []));
    const changed = changes.flatMap((change) => (change.kind === "gone" ? [] : [change.agent]));
    for (const id of gone) texts?.forget(id);
    // Gateways that do not know hosted devices know no batch of these either.
    const isBatch = gone.length > 1 && texts !== undefined && devices?.isWanted === true;
    const singly = isBatch ? [] : gone.map((agent) => ({ t: "gone" as const, agent }));
    if (!texts) return [...singly, ...changed.map((agent) => ({ t: "agent" as const, agent }))];
    const groups = changed.length > 0 ? inGroups(changed.map((agent) => texts.without(agent))) : [];
    // Those that are gone go first: who comes may need their room.
    const leaving = isBatch ? Math.ceil(gone.length / DEVICES_A_FRAME_MAX) : 0;
    // An agent that there is no room for changes nothing but their count, which goes alone then.
    const counting = over === this.#toldOver ? 0 : 1;
    this.#toldOver = over;
    const frames = Array.from({ length: Math.max(groups.length, leaving, counting) }, (_, n) => ({
      t: "agents" as const,
      agents: groups[n] ?? [],
      ...(n < leaving && { gone: gone.slice(n * DEVICES_A_FRAME_MAX, (n + 1) * DEVICES_A_FRAME_MAX) }),
      over,
    }));
    return [...singly, ...frames];
  }

  /** Sends frames one after the other, since all at once could be more than the line is allowed to hold. @returns whether all were sent */
  async #sendInTurn(frames: readonly BridgeFrame[], connection: number): Promise<boolean> {
    const { gateway } = this.#parts;
    for (const frame of frames) {
      const isNumbered = this.#hasFlowControl && (frame.t === "snapshot" || frame.t === "agents");
      if (isNumbered) await this.#room(connection);
      if (connection !== this.#connection) return false;
      if (isNumbered) this.#numbered += 1;
      const next = isNumbered ? { ...frame, n: this.#numbered } : frame;
      const sent = await new Promise<boolean>((resolve) => {
        if (!gateway.send(next, (error) => resolve(!error))) resolve(false);
      });
      if (!sent) return false;
    }
    return connection === this.#connection;
  }

  /** Waits until Home has stored all but a few frames. */
  async #room(connection: number): Promise<void> {
    while (connection === this.#connection && this.#numbered - this.#storedUpTo >= AHEAD_MAX) {
      const later = Promise.withResolvers<void>();
      this.#onStored = later.resolve;
      const timer = setTimeout(() => this.stored(this.#numbered), STORED_WITHIN_MS);
      await later.promise;
      clearTimeout(timer);
    }
  }

  #sayOver(): void {
    const { roster, clock, log } = this.#parts;
    const now = clock.now();
    if (roster.over === 0 || now - (this.#saidOverAt ?? -OVER_EVERY_MS) < OVER_EVERY_MS) return;
    this.#saidOverAt = now;
    log("error", "agents.too_many", { max: AGENTS_MAX, over: roster.over });
  }

  stop(): void {
    clearTimeout(this.#changesTimer);
    clearTimeout(this.#snapshotTimer);
  }

  async #sendSnapshot(connection: number): Promise<void> {
    const { gateway, roster, devices, log } = this.#parts;
    const texts = this.#texts;
    const agents = roster.snapshot().filter(({ id }) => !devices?.has(id));
    const all = [...agents, ...(devices?.snapshot() ?? [])];
    const states = all.map((state) => texts?.without(state) ?? state);
    const { over } = roster;
    this.#toldOver = over;
    const frames = snapshotFrames(states).map((frame) =>
      texts && frame.t === "snapshot" ? { ...frame, over } : frame,
    );
    this.#sayOver();
    if (!(await this.#sendInTurn(frames, connection))) return;
    this.#hasSnapshot = true;
    this.#isInSnapshot = false;
    this.#resendReports().catch((error) => log("error", "report.resend_failed", { error: String(error) }));
    for (const event of this.#events.splice(0)) gateway.send(event);
    this.sendChangesSoon();
  }

  /** Sends unacked reports, each when the line has taken the one before. */
  async #resendReports(): Promise<void> {
    const { reports } = this.#parts;
    const connection = this.#connection;
    for (const report of reports.all()) {
      if (reports.get(report.agent, report.id) !== report) continue;
      if (!(await this.#sendInTurn([{ t: "report", ...report }], connection))) return;
    }
  }
}

/** Drops items from the end, up to one that is not done. */
function dropLast<T>(items: T[], isDone: (item: T) => boolean): void {
  for (let last = items.at(-1); last !== undefined && isDone(last); last = items.at(-1)) items.pop();
}
