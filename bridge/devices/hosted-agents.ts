/**
 * Hosted devices as Home sees them: each as an agent, and what changed since Home was told. A value that a device sends is no
 * change, and neither is the time when it was heard.
 */

import { createHash } from "node:crypto";
import { HOSTED_FEATURE, HOSTED_TYPE, type HostedState } from "@edgecall/core/protocol/devices.ts";
import { AgentState, BROKER_UNREACHABLE, type TextKind } from "@edgecall/core/protocol/frames.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DeviceAction, HostedDevice, SourceName } from "@edgecall/discovery/model/device.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import { BROKER_GRACE_MS, type Roster, type RosterChange } from "../broker/presence.ts";
import type { HostedDevices } from "../gateway/outbox.ts";
import { FRESH } from "./reports.ts";

/** It is told to Home, which shows it in the console. */
const NOT_OFFERED_MAX = 20;
/** A cancel is the only notice that a device's call has any use for. */
const FEATURES = [HOSTED_FEATURE, "tool", "cancel"];

type HostedAgent = { agent: AgentState; device: HostedDevice };
type Texts = { capabilities: string; tools: string };

export type HostedAgentsOptions = {
  /** Of the devices of each source. */
  modes: Readonly<Record<SourceName, HostedState["mode"]>>;
  /** Agents of the broker. An id of one that the home serves is no device's. */
  roster: Pick<Roster, "isServed">;
  clock: Clock;
  log: Log;
};

export class HostedAgents implements HostedDevices {
  readonly #options: HostedAgentsOptions;
  /** By agent id. */
  #agents = new Map<string, HostedAgent>();
  readonly #sent = new Map<string, AgentState>();
  /** By the device's `read`, which is another object whenever an action changed: texts are not made anew each second. */
  readonly #texts = new WeakMap<DeviceAction, Texts>();
  /** Changes wait: a burst of configs or of retained states is under way. */
  #isHeld = false;
  /** The gateway knows hosted devices; undefined: it has not said so yet, nor whom it serves. */
  #isWanted: boolean | undefined;
  /** When the broker was lost, monotonic ms; undefined: it is connected. Negative infinity: it never was. */
  #lostAt: number | undefined = Number.NEGATIVE_INFINITY;

  constructor(options: HostedAgentsOptions) {
    this.#options = options;
  }

  /**
   * Takes the devices as they are now.
   * @param canAsk whether the values of a device can be asked for
   * @returns whether Home has to be told of something
   */
  update(devices: readonly HostedDevice[], canAsk: (id: string) => boolean): boolean {
    const agents = new Map<string, HostedAgent>();
    for (const device of devices) {
      const agent = this.#checked(this.#stateOf(device, canAsk));
      if (agent) agents.set(device.id, { agent, device });
    }
    this.#agents = agents;
    return this.#differences().next().done !== true;
  }

  /** Until `release`, no change is told, and a snapshot waits. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  /** True while the devices are not all known. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** @param isWanted whether the gateway knows hosted devices */
  welcomed(isWanted: boolean): void {
    this.#isWanted = isWanted;
  }

  /** True if the gateway knows hosted devices. */
  get isWanted(): boolean {
    return this.#isWanted === true;
  }

  brokerConnected(): void {
    this.#lostAt = undefined;
  }

  brokerLost(): void {
    this.#lostAt ??= this.#options.clock.now();
  }

  /** True if a hosted device has this id, and no agent of the broker. */
  has(id: string): boolean {
    return this.#agents.has(id) && !this.#isTaken(id);
  }

  device(id: string): HostedDevice | undefined {
    return this.has(id) ? this.#agents.get(id)?.device : undefined;
  }

  /** As Home sees it now; undefined: no hosted device has this id. */
  state(id: string): AgentState | undefined {
    const hosted = this.#agents.get(id);
    return hosted && !this.#isTaken(id) ? this.#present(hosted) : undefined;
  }

  ids(): string[] {
    return [...this.#agents.keys()];
  }

  /** Ids of devices that an agent of the broker has come by. */
  taken(): string[] {
    return this.ids().filter((id) => this.#isTaken(id));
  }

  /** All for a snapshot. From here on `changes` returns the difference to it. */
  snapshot(): AgentState[] {
    this.#sent.clear();
    if (this.#isWanted) for (const agent of this.#visible()) this.#sent.set(agent.id, agent);
    return [...this.#sent.values()];
  }

  /** The changes since the last call, for Home. */
  changes(): RosterChange[] {
    if (this.#isHeld) return [];
    const changes = [...this.#differences()];
    for (const change of changes) {
      if (change.kind === "gone") this.#sent.delete(change.id);
      else this.#sent.set(change.agent.id, change.agent);
    }
    return changes;
  }

  /** Home has lost what it was sent of an agent. */
  setUnsent(id: string): void {
    this.#sent.delete(id);
  }

  /** True if a hosted device has a text of each of these kinds. */
  holds(id: string, kinds: readonly TextKind[]): boolean {
    const agent = this.#agents.get(id)?.agent;
    return agent !== undefined && kinds.every((kind) => agent[kind] !== undefined);
  }

  *#differences(): Generator<RosterChange> {
    const present = new Set<string>();
    if (this.#isWanted)
      for (const agent of this.#visible()) {
        present.add(agent.id);
        const sent = this.#sent.get(agent.id);
        if (!sent || !isSame(sent, agent)) yield { kind: "agent", agent };
      }
    for (const id of this.#sent.keys()) {
      // The roster tells Home of the agent that has this id now.
      if (this.#isTaken(id)) this.#sent.delete(id);
      else if (!present.has(id)) yield { kind: "gone", id };
    }
  }

  *#visible(): Generator<AgentState> {
    for (const hosted of this.#agents.values())
      if (!this.#isTaken(hosted.agent.id)) yield this.#present(hosted);
  }

  #present({ agent, device }: HostedAgent): AgentState {
    if (device.source !== "mqtt") return agent;
    const isAway = this.#lostAt !== undefined && this.#options.clock.now() - this.#lostAt >= BROKER_GRACE_MS;
    return isAway ? { ...agent, online: false, reason: BROKER_UNREACHABLE } : agent;
  }

  #isTaken(id: string): boolean {
    return this.#isWanted !== undefined && this.#options.roster.isServed(id);
  }

  /** Home takes no frame with a wrong agent in it, so one that it would not take is left out. */
  #checked(agent: AgentState): AgentState | undefined {
    const before = this.#agents.get(agent.id)?.agent;
    // The same object is compared quickly.
    if (before && isSame(before, agent)) return { ...agent, hosted: before.hosted };
    const fits = check(AgentState, agent);
    if (fits.ok) return agent;
    this.#options.log("error", "devices.left_out", { device: agent.id, error: cutText(fits.error, 300) });
    return undefined;
  }

  #stateOf(device: HostedDevice, canAsk: (id: string) => boolean): AgentState {
    const { source, id, online, reason, lastSeen, key, allowHash, allowHashBefore } = device;
    const { name, area, floor, aliases = [], model, publisher } = device;
    const notOffered = device.notOffered.slice(0, NOT_OFFERED_MAX);
    return {
      id,
      online,
      ...(reason !== undefined && { reason: cutText(reason, 200) }),
      last_seen: lastSeen,
      foreign: false,
      ...this.#textsOf(device, canAsk),
      hosted: {
        key,
        allow: allowHash,
        allow_before: allowHashBefore,
        mode: this.#options.modes[source],
        name: cutText(name, 100) || id,
        ...(area !== undefined && { area: cutText(area, 64) }),
        ...(floor !== undefined && { floor: cutText(floor, 64) }),
        ...(aliases.length > 0 && { aliases: aliases.map((alias) => cutText(alias, 40)) }),
        ...(model !== undefined && { model: cutText(model, 100) }),
        ...(publisher !== undefined && { publisher: cutText(publisher, 64) }),
        ...(notOffered.length > 0 && {
          not_offered: notOffered.map(({ what, why }) => ({
            what: cutText(what, 100),
            why: cutText(why, 200),
          })),
        }),
      },
    };
  }

  #textsOf({ id, line, actions, settings = [] }: HostedDevice, canAsk: (id: string) => boolean): Texts {
    const [read, ...others] = actions;
    const known = read && this.#texts.get(read);
    if (known) return known;
    // Home offers the settings only where a person wants that.
    const tools = [...(read && canAsk(id) ? [withFresh(read), ...others] : actions), ...settings];
    const hash = createHash("sha256").update(JSON.stringify(tools)).digest("hex").slice(0, 16);
    const texts = {
      capabilities: JSON.stringify({
        agent_id: id,
        capabilities: line,
        agent_type: HOSTED_TYPE,
        features: FEATURES,
      }),
      tools: JSON.stringify({ hash, tools }),
    };
    if (read) this.#texts.set(read, texts);
    return texts;
  }
}

/** A device that can be asked for its values may be read afresh. */
function withFresh(read: DeviceAction): DeviceAction {
  const properties = read.parameters.properties as Record<string, unknown> | undefined;
  const fresh = { type: "boolean", description: "asks the device, in place of what it said last" };
  return { ...read, parameters: { ...read.parameters, properties: { ...properties, [FRESH]: fresh } } };
}

function isSame(a: AgentState, b: AgentState): boolean {
  return (
    a.online === b.online &&
    a.reason === b.reason &&
    a.capabilities === b.capabilities &&
    a.tools === b.tools &&
    (a.hosted === b.hosted || JSON.stringify(a.hosted) === JSON.stringify(b.hosted))
  );
}
