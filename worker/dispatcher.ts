/**
 * Calls on their way: stored before they are sent, sent again when the bridge or an agent comes back,
 * settled once, and handed to the conversation by its name.
 */
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { type ErrorType, errorText } from "@edgecall/core/tools/errors.ts";
import type { Agents } from "./agents.ts";
import type { BridgeSocket } from "./bridge-socket.ts";
import type { CallTarget, Order } from "./edge-call.ts";
import type { Env } from "./env.ts";
import type { Ledger, LedgerCall, SettledOutcome } from "./ledger.ts";
import { logError } from "./log.ts";
import { conversationOf } from "./objects.ts";
import { silenceOutcome } from "./outcome.ts";
import { ago } from "./roster.ts";
import { readSettings } from "./settings.ts";

/** Each hop inwards gets a little less than the one outside it, so that the inner answer arrives first. */
const BRIDGE_MARGIN_MS = 2_000;
const AGENT_MARGIN_MS = 4_000;
/** A conversation that could not take an outcome gets it again after this. */
const REDELIVER_AFTER_MS = 2_000;
/** A `cancel` or an `ack` that is older than this does no good any more. */
const NOTICE_LIFE_MS = 60_000;

export type NewOrder = {
  id: string;
  conversation: string | null;
  agent: string;
  caller: Caller;
  order: Order;
};

export type Reached = { ok: true; target: CallTarget } | { ok: false; errorType: ErrorType; text: string };

export class Dispatcher {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #bridge: BridgeSocket;
  readonly #agents: Agents;
  readonly #ledger: Ledger;
  #lastN = 0;
  /** When the alarm stands, as far as this instance knows: spares a row for each call. */
  #armed: number | undefined;

  constructor(ctx: DurableObjectState, env: Env, bridge: BridgeSocket, agents: Agents, ledger: Ledger) {
    this.#ctx = ctx;
    this.#env = env;
    this.#bridge = bridge;
    this.#agents = agents;
    this.#ledger = ledger;
  }

  /** A foreign agent is there for this home only when the settings name it. */
  readonly served = (agent: { id: string; foreign: boolean }): boolean => {
    if (!agent.foreign) return true;
    const { unsignedAgents } = readSettings(this.#env);
    return unsignedAgents.has("*") || unsignedAgents.has(agent.id);
  };

  /** The agent, if it can be called right now; else words on why not, said at once. */
  reach(agentId: string): Reached {
    const now = Date.now();
    const heard = this.#bridge.heardAt(now);
    const target = this.#agents.target(agentId, heard, this.served);
    if (!target) {
      const online = this.#agents.roster(heard, this.served).filter((agent) => agent.online);
      const names = online.map((agent) => agent.id).join(", ") || "none";
      return {
        ok: false,
        errorType: "not_found",
        text: `Error: Agent '${agentId}' not found. Online agents: ${names}.\nPlease choose one of them or explain to the user.`,
      };
    }
    if (!target.online) {
      const why = target.reason ? ` (${target.reason})` : "";
      return {
        ok: false,
        errorType: "offline",
        text: errorText.offline(agentId, ago(target.lastSeen, now)) + why,
      };
    }
    return { ok: true, target };
  }

  /** Stores a call and sends it. @returns its deadline, epoch ms */
  async dispatch(call: NewOrder): Promise<number> {
    const now = Date.now();
    const stored = this.#ledger.add(call, this.#nextN(now), true, now);
    this.#send(stored, now);
    await this.arm();
    return stored.endsAt;
  }

  #send(call: LedgerCall, now: number): void {
    const left = call.endsAt - now;
    const payload = this.#compose(call, left - AGENT_MARGIN_MS, now);
    const frame = {
      t: "call",
      id: call.id,
      agent: call.agent,
      payload,
      expires_in_ms: Math.max(0, left - BRIDGE_MARGIN_MS),
    } as const;
    // The bridge is gone this very moment: it gets the call when it comes back.
    if (!this.#bridge.send(frame, now)) this.#ledger.unsent(call.id);
  }

  /** The command's text, published by the bridge as it is. A foreign agent gets EvoClaw's fields and no others. */
  #compose(
    command: Pick<LedgerCall, "agent" | "command" | "payload" | "id" | "caller" | "n">,
    expiresInMs: number,
    now: number,
  ): string {
    const base = { command: command.command, payload: command.payload, request_id: command.id };
    if (this.#agents.features(command.agent).length === 0) return JSON.stringify(base);
    const left = Math.max(0, Math.round(expiresInMs));
    return JSON.stringify({
      ...base,
      expires_in_ms: left,
      expires_at: now + left,
      caller: command.caller,
      n: command.n,
    });
  }

  /** Rises with each command, over restarts too, since the clock does; two in one millisecond differ by one. */
  #nextN(now: number): number {
    this.#lastN = Math.max(this.#lastN + 1, now);
    return this.#lastN;
  }

  /** Sends what is open once more: after the bridge came back, or an agent did. */
  resend(agentId: string | undefined): void {
    const now = Date.now();
    for (const call of this.#ledger.open(agentId)) {
      const features = this.#agents.features(call.agent);
      // A foreign agent has no ledger: what it may have got once, it never gets again.
      if (features.length === 0 && call.state !== "waiting") continue;
      if (call.endsAt - now <= AGENT_MARGIN_MS) continue;
      const n = this.#nextN(now);
      this.#ledger.sent(call.id, n, now);
      this.#send({ ...call, n }, now);
    }
  }

  settle(call: LedgerCall, outcome: SettledOutcome): void {
    if (!this.#ledger.settle(call.id, outcome, Date.now())) return;
    for (const socket of this.#ctx.getWebSockets(call.id)) tellOutcome(socket, outcome);
    if (call.conversation !== null) this.#ctx.waitUntil(this.#deliver(call.id, call.conversation, outcome));
  }

  async #deliver(id: string, conversation: string, outcome: SettledOutcome): Promise<void> {
    try {
      await conversationOf(this.#env, conversation).settle(id, outcome);
      this.#ledger.delivered(id);
    } catch (error) {
      logError("call.deliver_failed", error, { call: id });
      await this.arm();
    }
  }

  /** Tells the devices to stop; what they did until then is unknown. */
  cancel(ids: readonly string[]): void {
    const now = Date.now();
    for (const id of ids) {
      const call = this.#ledger.get(id);
      if (!call || call.outcome) continue;
      const text = "Cancelled while the device was at it: it may or may not have run.";
      const elapsedMs = now - call.createdAt;
      this.#ledger.settle(id, { status: "error", errorType: "outcome_unknown", text, elapsedMs }, now);
      // The conversation that cancels knows already.
      this.#ledger.delivered(id);
      const payload = this.#notice(call.agent, "cancel", id, call.caller, now);
      if (payload !== undefined) this.#bridge.send({ t: "publish", agent: call.agent, payload }, now);
    }
  }

  /** The report is stored: the bridge and, where it knows the word, the agent may forget it. */
  acknowledge(id: string, agent: string, caller: Caller | undefined): void {
    const now = Date.now();
    const payload = this.#notice(
      agent,
      "ack",
      id,
      caller ?? { principal: "gateway", role: "member", channel: "gateway" },
      now,
    );
    this.#bridge.send({ t: "ack", id, agent, ...(payload !== undefined && { payload }) }, now);
  }

  #notice(
    agent: string,
    command: "cancel" | "ack",
    requestId: string,
    caller: Caller,
    now: number,
  ): string | undefined {
    if (!this.#agents.features(agent).includes(command)) return undefined;
    return this.#compose(
      {
        agent,
        command,
        payload: { request_id: requestId },
        id: crypto.randomUUID(),
        caller,
        n: this.#nextN(now),
      },
      NOTICE_LIFE_MS,
      now,
    );
  }

  /** What the alarm is for: calls that were not taken, that ran out of time, that could not be handed over. */
  async tend(): Promise<void> {
    this.#armed = undefined;
    const now = Date.now();
    try {
      this.#bridge.dropStrangers(now);
      const untaken = this.#ledger.untaken(now);
      for (const call of untaken) this.#ledger.taken(call.id);
      if (untaken.length > 0) this.#bridge.dropSilent(now);
      for (const call of this.#ledger.overdue(now)) {
        const what = call.command === "tool" ? `'${String(call.payload.tool)}'` : `the ${call.command}`;
        const delivered = call.state !== "waiting";
        this.settle(call, silenceOutcome(call.agent, what, now - call.createdAt, delivered, call.idempotent));
      }
      for (const call of this.#ledger.undelivered()) {
        if (call.conversation !== null && call.outcome)
          await this.#deliver(call.id, call.conversation, call.outcome);
      }
      this.#ledger.prune(now);
    } finally {
      await this.arm();
    }
  }

  /** Sets the alarm to whatever is due first. An alarm that stands earlier is left: it looks again itself. */
  async arm(): Promise<void> {
    const now = Date.now();
    const due = [this.#ledger.nextDue(), this.#bridge.dropStrangers(now)];
    if (this.#ledger.undelivered().length > 0) due.push(now + REDELIVER_AFTER_MS);
    const next = Math.min(...due.filter((time) => time !== undefined));
    if (!Number.isFinite(next) || (this.#armed !== undefined && this.#armed <= next)) return;
    this.#armed = next;
    await this.#ctx.storage.setAlarm(next);
  }
}

export function tellOutcome(socket: WebSocket, outcome: SettledOutcome): void {
  try {
    socket.send(JSON.stringify(outcome));
    socket.close(1000, "done");
  } catch {
    // The waiting room closed a moment ago; the outcome stands in its row.
  }
}
