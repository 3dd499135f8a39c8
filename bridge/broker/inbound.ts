/** Reads what comes from the broker: the topic names the agent, the schema checks the payload, and each kind goes to its part. */

import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import {
  AgentEvent,
  Capabilities,
  Presence,
  type ReadReport,
  readReport,
  ToolsAdvert,
} from "@edgecall/core/protocol/mqtt.ts";
import { parseTopic, type TopicKind } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { stampOf } from "@edgecall/core/protocol/signing.ts";
import { unsolicitedText } from "@edgecall/core/protocol/unsolicited.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { BrokerMessage } from "./broker.ts";
import type { Calls } from "./calls.ts";
import { EventLimit } from "./event-limit.ts";
import type { ForeignAgentQueue } from "./foreign-agent-queue.ts";
import { LogThrottle } from "./log-throttle.ts";
import type { Roster } from "./presence.ts";
import type { ReportVerifier } from "./report-verifier.ts";
import type { ToHome } from "./to-home.ts";

/** The kinds of topics that the bridge subscribes to. It publishes on `commands`. */
export const LISTENS_TO = ["capabilities", "tools", "presence", "reports", "events", "status"] as const;

/**
 * Bytes. A frame to Home holds at most 1 MiB, and JSON in JSON can double: each quote gains a backslash.
 * A report is bounded by its agent at 50 KB of text and 64 KB of image.
 */
export const MAX_BYTES: Record<TopicKind, number> = {
  capabilities: 16 * 1024,
  tools: 192 * 1024,
  presence: 4 * 1024,
  reports: 400 * 1024,
  events: 64 * 1024,
  status: 16 * 1024,
  commands: 0,
};

/** A report beyond this is not read: the one call that its agent works on is taken for answered. */
const READ_MAX_BYTES = 2 * 1024 * 1024;

const TOO_MUCH = "too many agents are known already, or they advertise too much";

const AnyStatus = z.record(z.string(), z.unknown());

export type InboundParts = {
  /** The topics' prefix. */
  prefix: string;
  log: Log;
  clock: Clock;
  roster: Roster;
  verifier: ReportVerifier;
  foreign: ForeignAgentQueue;
  calls: Calls;
  outbox: Pick<ToHome, "event">;
};

export class Inbound {
  readonly #parts: InboundParts;
  readonly #throttle: LogThrottle;
  readonly #limit: EventLimit;
  /** Agents whose words Home takes without having asked. */
  #unsolicited: ReadonlySet<string> = new Set();

  constructor(parts: InboundParts) {
    this.#parts = parts;
    this.#limit = new EventLimit(parts.clock.now);
    this.#throttle = new LogThrottle(parts.clock.now);
  }

  /** Home says of which agents without a key it takes words that answer no call. */
  acceptUnsolicited(ids: readonly string[]): void {
    this.#unsolicited = new Set(ids);
  }

  /** Takes any message on any topic. A wrong one is dropped with a log line. */
  message(message: BrokerMessage): void {
    const error = this.#read(message);
    if (error !== undefined) this.#drop(message.topic, error);
  }

  /** @returns what is wrong with the message */
  #read(message: BrokerMessage): string | undefined {
    const topic = parseTopic(this.#parts.prefix, message.topic);
    if (topic === undefined) return "topic: not one of an agent's, or its id is wrong";
    const bytes = message.payload.length;
    const max = MAX_BYTES[topic.kind];
    if (bytes > max) {
      if (topic.kind === "reports" && !message.retained) this.#tooLarge(topic.agentId, message.payload);
      return `payload: ${bytes} bytes, and ${max} are allowed`;
    }
    // Home gets the text as it was published, so the payload must be text.
    if (!isUtf8(message.payload)) return "payload: not UTF-8";
    const text = message.payload.toString("utf8");
    const { agentId, kind } = topic;
    const live = !message.retained;
    const problem = this.#parts.verifier.problem(agentId, kind, text, live);
    if (problem !== undefined) {
      const behind = live && this.#parts.verifier.behind(agentId);
      if (behind) this.#parts.roster.numbersAreOld(agentId, behind);
      return problem;
    }
    if (kind === "reports" && live) this.#signOfLife(agentId, text);
    return this.#accept(agentId, kind, text, live);
  }

  /** The call is over, and its answer cannot be passed on. An agent of ours keeps to the bound. */
  #tooLarge(agent: string, payload: Buffer): void {
    if (!this.#parts.roster.isForeign(agent) || this.#parts.verifier.isKeyed(agent)) return;
    const isRead = payload.length <= READ_MAX_BYTES;
    const report = isRead ? readReport(payload.toString("utf8")) : undefined;
    if (report && (!report.ok || (report.value.type !== "result" && report.value.type !== "error"))) return;
    this.#parts.calls.foreignTooLarge(agent, report?.value, {
      bytes: payload.length,
      max: MAX_BYTES.reports,
    });
  }

  /** A keyed agent's signature on a live report outweighs its retained presence. */
  #signOfLife(agent: string, text: string): void {
    if (!this.#parts.verifier.isKeyed(agent) || text.length > MAX_BYTES.status) return;
    const stamp = stampOf(text);
    if (stamp.ok && this.#parts.roster.reportSigned(agent, text, stamp.value.boot_id))
      this.#parts.calls.agentBack(agent);
  }

  #accept(agent: string, kind: TopicKind, text: string, live: boolean): string | undefined {
    switch (kind) {
      case "capabilities":
        return this.#capabilities(agent, text, live);
      case "tools":
        return this.#tools(agent, text);
      case "presence":
        return this.#presence(agent, text, live);
      case "reports":
        return live ? this.#report(agent, text) : "retained, and a report should not be";
      case "events":
        return live ? this.#event(agent, text) : "retained, and an event should not be";
      case "status":
        return live ? this.#status(agent, text) : "retained, and a status should not be";
      case "commands":
        return undefined;
    }
  }

  #capabilities(agent: string, text: string, live: boolean): string | undefined {
    const { roster } = this.#parts;
    if (text === "") {
      roster.withdrawn(agent);
      return undefined;
    }
    const advert = checkJson(Capabilities, text);
    if (!advert.ok) return advert.error;
    if (!roster.advertised(agent, text, advert.value, live)) return TOO_MUCH;
    if (live && roster.isForeign(agent)) this.#parts.foreign.advertisedAfresh(agent);
    return undefined;
  }

  #tools(agent: string, text: string): string | undefined {
    // Home has read a text that it stored.
    if (text !== "" && !this.#parts.verifier.isStored(agent, "tools", text)) {
      const advert = checkJson(ToolsAdvert, text);
      if (!advert.ok) return advert.error;
    }
    return this.#parts.roster.toolsAdvertised(agent, text || undefined) ? undefined : TOO_MUCH;
  }

  #presence(agent: string, text: string, live: boolean): string | undefined {
    if (text === "") {
      this.#parts.roster.presenceCleared(agent);
      return undefined;
    }
    const presence = checkJson(Presence, text);
    if (!presence.ok) return presence.error;
    if (this.#parts.verifier.isKeyed(agent)) this.#parts.roster.presenceSigned(agent);
    this.#parts.roster.onPresence(agent, text, presence.value, live);
    if (presence.value.state === "online") this.#parts.calls.agentBack(agent);
    return undefined;
  }

  #report(agent: string, text: string): string | undefined {
    const report = readReport(text);
    if (!report.ok) return report.error;
    const { roster } = this.#parts;
    if (report.value.type === "heartbeat") {
      roster.heartbeat(agent);
      this.#parts.foreign.heartbeat(agent);
      return undefined;
    }
    // EvoClaw sends a skill_report or metric unasked, so it is no proof that the agent hears.
    if (report.value.type === "other") {
      roster.onMessage(agent);
      return this.#unsolicitedReport(agent, text, report.value);
    }
    return this.#answer(agent, text, report.value);
  }

  /** Figures without a text, which come every few seconds, wake nobody. */
  #unsolicitedReport(agent: string, text: string, report: ReadReport): string | undefined {
    const isWanted = this.#unsolicited.has(agent) && !this.#parts.verifier.isKeyed(agent);
    if (!isWanted || unsolicitedText(report) === undefined) return undefined;
    const id = randomUUID();
    if (!this.#limit.takes(agent, id)) return "more of its own words than an agent may send in an hour";
    this.#parts.outbox.event({ t: "event", id, agent, payload: text }, true);
    return undefined;
  }

  #answer(agent: string, text: string, report: ReadReport): string | undefined {
    const { roster } = this.#parts;
    if (roster.isForeign(agent)) {
      this.#parts.calls.foreignReport(agent, report.requestId, text, report.payload);
      return undefined;
    }
    roster.answered(agent);
    if (report.requestId === undefined) return "payload.request_id: missing, so nobody waits for it";
    this.#parts.calls.ownReport(agent, report.requestId, text);
    return undefined;
  }

  #event(agent: string, text: string): string | undefined {
    const event = checkJson(AgentEvent, text);
    if (!event.ok) return event.error;
    this.#parts.roster.onMessage(agent);
    const { type, request_id: id } = event.value;
    if (type === "event") {
      if (this.#parts.roster.isForeign(agent)) return "type: an agent without features says no event";
      if (!this.#limit.takes(agent, id)) return "more changes of rules than an agent may send in an hour";
    }
    this.#parts.outbox.event({ t: "event", id, agent, payload: text }, type === "event");
    return undefined;
  }

  #status(agent: string, text: string): string | undefined {
    const status = checkJson(AnyStatus, text);
    if (!status.ok) return status.error;
    this.#parts.roster.onMessage(agent);
    return undefined;
  }

  #drop(topic: string, error: string): void {
    const name = topic.slice(0, 200);
    if (this.#throttle.due(`${name} ${error}`.slice(0, 300))) {
      this.#parts.log("warn", "broker.message_dropped", { topic: name, error: cutText(error, 500) });
    }
  }
}
