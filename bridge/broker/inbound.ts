/** What comes from the broker: the topic says who, the schema whether it counts, and then each to its place. */

import { isUtf8 } from "node:buffer";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import {
  AgentEvent,
  Capabilities,
  Presence,
  type ReadReport,
  readReport,
  ToolsAdvert,
} from "@edgecall/core/protocol/mqtt.ts";
import { parseTopic, type TopicKind } from "@edgecall/core/protocol/names.ts";
import { checkJson, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { stampOf } from "@edgecall/core/protocol/signing.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { BrokerMessage } from "./broker.ts";
import type { Calls } from "./calls.ts";
import type { ForeignAgentQueue } from "./foreign-agent-queue.ts";
import type { LogThrottle } from "./log-throttle.ts";
import type { Roster } from "./presence.ts";
import type { ReportVerifier } from "./report-verifier.ts";

/** The topics that the bridge listens to. `commands` is where it speaks. */
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

const TOO_MUCH = "too many agents are known already, or they advertise too much";

const AnyStatus = z.record(z.string(), z.unknown());

export type InboundOptions = {
  prefix: string;
  roster: Roster;
  verifier: ReportVerifier;
  foreign: ForeignAgentQueue;
  calls: Calls;
  /** An event for Home. */
  event(frame: Extract<BridgeFrame, { t: "event" }>): void;
  log: Log;
  seldom: LogThrottle;
};

export class Inbound {
  readonly #o: InboundOptions;

  constructor(options: InboundOptions) {
    this.#o = options;
  }

  /** Takes any message on any topic; what does not fit is dropped with a log line. */
  message(message: BrokerMessage): void {
    const error = this.#read(message);
    if (error !== undefined) this.#drop(message.topic, error);
  }

  /** Gives back what is wrong with it. */
  #read(message: BrokerMessage): string | undefined {
    const topic = parseTopic(this.#o.prefix, message.topic);
    if (topic === undefined) return "topic: not one of an agent's, or its id is wrong";
    const bytes = message.payload.length;
    const max = MAX_BYTES[topic.kind];
    if (bytes > max) return `payload: ${bytes} bytes, and ${max} are allowed`;
    // Home gets the text as it was published; what is no text has no such form.
    if (!isUtf8(message.payload)) return "payload: not UTF-8";
    const text = message.payload.toString("utf8");
    const { agentId, kind } = topic;
    const live = !message.retained;
    const problem = this.#o.verifier.problem(agentId, kind, text, live);
    if (problem !== undefined) return problem;
    if (kind === "reports" && live) this.#signOfLife(agentId, text);
    return this.#take(agentId, kind, text, live);
  }

  /** Of an agent with a key: its signature on a report of now outweighs what is retained of its presence. */
  #signOfLife(agent: string, text: string): void {
    if (!this.#o.verifier.isKeyed(agent) || text.length > MAX_BYTES.status) return;
    const stamp = stampOf(text);
    if (stamp.ok && this.#o.roster.reportSigned(agent, text, stamp.value.boot_id))
      this.#o.calls.agentBack(agent);
  }

  #take(agent: string, kind: TopicKind, text: string, live: boolean): string | undefined {
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
    const { roster, foreign } = this.#o;
    if (text === "") {
      roster.withdrawn(agent);
      return undefined;
    }
    const advert = checkJson(Capabilities, text);
    if (!advert.ok) return advert.error;
    if (!roster.advertised(agent, text, advert.value, live)) return TOO_MUCH;
    if (live && roster.isForeign(agent)) foreign.advertisedAfresh(agent);
    return undefined;
  }

  #tools(agent: string, text: string): string | undefined {
    const advert: Parsed<unknown> =
      text === "" ? { ok: true, value: undefined } : checkJson(ToolsAdvert, text);
    if (!advert.ok) return advert.error;
    return this.#o.roster.toolsAdvertised(agent, text || undefined) ? undefined : TOO_MUCH;
  }

  #presence(agent: string, text: string, live: boolean): string | undefined {
    if (text === "") {
      this.#o.roster.presenceCleared(agent);
      return undefined;
    }
    const presence = checkJson(Presence, text);
    if (!presence.ok) return presence.error;
    if (this.#o.verifier.isKeyed(agent)) this.#o.roster.vouched(agent);
    this.#o.roster.presenceSaid(agent, text, presence.value, live);
    if (presence.value.state === "online") this.#o.calls.agentBack(agent);
    return undefined;
  }

  #report(agent: string, text: string): string | undefined {
    const report = readReport(text);
    if (!report.ok) return report.error;
    const { roster, foreign } = this.#o;
    if (report.value.type === "heartbeat") {
      roster.heartbeat(agent);
      foreign.heartbeat(agent);
      return undefined;
    }
    // A skill_report or metric of EvoClaw's: sent of its own accord, so no proof that it hears.
    if (report.value.type === "other") {
      roster.heard(agent);
      return undefined;
    }
    return this.#answer(agent, text, report.value);
  }

  #answer(agent: string, text: string, report: ReadReport): string | undefined {
    const { roster, calls } = this.#o;
    if (roster.isForeign(agent)) {
      calls.foreignReport(agent, report.requestId, text, report.payload);
      return undefined;
    }
    roster.answered(agent);
    if (report.requestId === undefined) return "payload.request_id: missing, so nobody waits for it";
    calls.ownReport(agent, report.requestId, text);
    return undefined;
  }

  #event(agent: string, text: string): string | undefined {
    const event = checkJson(AgentEvent, text);
    if (!event.ok) return event.error;
    this.#o.roster.heard(agent);
    if (event.value.type !== "event") {
      this.#o.event({ t: "event", id: event.value.request_id, agent, payload: text });
    } else {
      this.#o.log("debug", "event_dropped", { agent, type: event.value.type, reason: "no request_id" });
    }
    return undefined;
  }

  #status(agent: string, text: string): string | undefined {
    const status = checkJson(AnyStatus, text);
    if (!status.ok) return status.error;
    this.#o.roster.heard(agent);
    return undefined;
  }

  #drop(topic: string, error: string): void {
    const shown = topic.slice(0, 200);
    if (this.#o.seldom.due(`${shown} ${error}`.slice(0, 300))) {
      this.#o.log("warn", "message_dropped", { topic: shown, error: error.slice(0, 500) });
    }
  }
}
