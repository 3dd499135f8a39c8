/**
 * Calls on their way: stored before they are sent, sent again when the bridge or an agent comes back, and given up
 * when their time is over. Their text is command-writer.ts's, their end handover.ts's.
 */
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { TAKEN_WITHIN_MS, VERSION } from "@edgecall/core/protocol/names.ts";
import { UPDATE_ACTION } from "@edgecall/core/protocol/versions.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import { type ErrorType, errorText } from "@edgecall/core/tools/errors.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { type AgentCommand, type CallTarget, PROMPT_MAX_MS } from "../../api/edge-call.ts";
import type { Plan } from "../../api/plan.ts";
import { ago } from "../../api/roster.ts";
import type { Env } from "../../env.ts";
import { logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import type { AgentKeys } from "../agents/agent-keys.ts";
import type { Agents } from "../agents/agents.ts";
import { NOBODY } from "../audit/audit-lines.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { tidy } from "../tidying.ts";
import { CommandWriter, type Notice } from "./command-writer.ts";
import { Handover } from "./handover.ts";
import { type CallFlags, JOB, type Ledger, type LedgerCall, OPEN_MAX } from "./ledger.ts";
import { silenceOutcome } from "./outcome.ts";

/** Each hop inwards gets a little less than the one outside it, so that the inner answer arrives first. */
const BRIDGE_MARGIN_MS = 2_000;
const AGENT_MARGIN_MS = 4_000;
/** Of an answer that is sent once. */
const ANSWER_LIFE_MS = 60_000;
/** Who speaks when no person does. */
const GATEWAY: Caller = { principal: "gateway", role: "member", channel: "gateway" };

export type NewOrder = {
  id: string;
  conversation: string | null;
  agent: string;
  caller: Caller;
  order: AgentCommand;
  flags?: CallFlags;
};

/** `target`: it is known, but not online. */
export type Unreached = Advised & { ok: false; errorType: ErrorType; target?: CallTarget };
export type Reached = { ok: true; target: CallTarget } | Unreached;

export class Dispatcher {
  readonly #home: HomeContext;
  readonly #keys: AgentKeys;
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #bridge: BridgeSocket;
  readonly #agents: Agents;
  readonly #ledger: Ledger;
  readonly #writer: CommandWriter;
  readonly #handover: Handover;
  /** When the alarm stands, as far as this instance knows: spares a row for each call. */
  #armed: number | undefined;
  /** What else wants the alarm. */
  readonly #alsoDue: Array<() => number | undefined> = [];

  constructor(home: HomeContext) {
    this.#home = home;
    this.#keys = home.keys;
    this.#ctx = home.ctx;
    this.#env = home.env;
    this.#bridge = home.bridge;
    this.#agents = home.agents;
    this.#ledger = home.ledger;
    this.#writer = new CommandWriter(home);
    this.#handover = new Handover(home, () => this.arm());
  }

  /** What a conversation is told with a result, for the model call that follows. */
  planWith(plan: () => Plan): void {
    this.#handover.planWith(plan);
  }

  /** Another part that needs to be woken at a time of its own (epoch ms). */
  alsoDue(due: () => number | undefined): void {
    this.#alsoDue.push(due);
  }

  /** An agent without a key on record is there for this home only when the settings name it. */
  readonly served = (agent: { id: string }): boolean => {
    if (this.#keys.standing(agent.id) !== "none") return true;
    const { unsignedAgents } = readSettings(this.#env);
    return unsignedAgents.has("*") || unsignedAgents.has(agent.id);
  };

  /** An owner let it in by name or with a code; `*` names nobody. */
  readonly letIn = (id: string): boolean =>
    this.#keys.standing(id) === "signed" || readSettings(this.#env).unsignedAgents.has(id);

  /**
   * The agent, if it can be called right now; else words on why not, said at once.
   * @param action its tool; undefined: something else is asked of it
   */
  reach(agentId: string, action: unknown): Reached {
    const now = Date.now();
    const heard = this.#bridge.heardAt(now);
    const target = this.#agents.target(agentId, heard, this.served);
    if (!target) {
      const online = this.#agents.roster(heard, this.served).filter((agent) => agent.online);
      const names = online.map((agent) => agent.id).join(", ") || "none";
      return {
        ok: false,
        errorType: "not_found",
        text: `Error: Agent '${agentId}' not found. Online agents: ${names}.`,
        advice: "Please choose one of them or explain to the user.",
      };
    }
    if (!target.online) {
      const why = target.reason ? `, ${target.reason}` : "";
      return {
        ok: false,
        target,
        errorType: "offline",
        ...errorText.offline(agentId, `${ago(target.lastSeen, now)}${why}`),
      };
    }
    if (this.#ledger.isFull(agentId)) {
      return {
        ok: false,
        errorType: "execution_failed",
        text: `Error: Agent '${agentId}' was not called: ${OPEN_MAX} calls to it are open already. Nothing was run.`,
        advice: "Try again later or explain to the user.",
      };
    }
    // It might misread a call, or its answer be misread: "done" has to be true.
    if (target.misfit !== undefined && action !== UPDATE_ACTION) {
      return {
        ok: false,
        errorType: "execution_failed",
        text: `Error: Agent '${agentId}' was not called: its program does not fit this gateway (${target.misfit}). Nothing was run.`,
        advice: "Explain this to the user.",
      };
    }
    return { ok: true, target };
  }

  /** Stores a call and sends it. @returns its deadline, epoch ms */
  async dispatch(call: NewOrder): Promise<number> {
    const now = Date.now();
    const stored = this.#ledger.add(call, this.#writer.nextN(now), "sent", now);
    // Before its signature is waited for: row and alarm are one write.
    const woken = this.#wakeBy(Math.min(stored.deadline, now + TAKEN_WITHIN_MS));
    await this.#send(stored, now);
    await woken;
    return stored.endsAt;
  }

  /** Stores a call whose agent is not there; it is sent when it comes, for so long. The conversation goes on. */
  async queue(call: NewOrder, forMs: number): Promise<void> {
    const now = Date.now();
    const flags = { ...call.flags, queued: true };
    const stored = this.#ledger.add(
      { ...call, flags, lateFor: call.id },
      this.#writer.nextN(now),
      "waiting",
      now,
    );
    this.#ledger.postpone(stored.id, now + forMs);
    await this.arm();
  }

  /** Stores a call that a person has to approve first; its question belongs into the same write. */
  hold(call: NewOrder): LedgerCall {
    const now = Date.now();
    const lateFor = call.flags?.queued ? { lateFor: call.id } : {};
    return this.#ledger.add({ ...call, ...lateFor }, this.#writer.nextN(now), "asking", now);
  }

  /** It was approved: its time starts now, or it waits for its agent for as long as it may. */
  async release(call: LedgerCall): Promise<void> {
    const now = Date.now();
    if (this.#waitsForAgent(call, this.#bridge.heardAt(now))) this.#ledger.approved(call.id, call.endsAt);
    else await this.#sendAnew(call, now);
    await this.arm();
  }

  /**
   * An agent's own work, which it has accepted and will report under this token.
   * @returns false: its agent has too many open rows, so its result will not be heard of
   */
  async expectJob(token: string, call: LedgerCall, withinMs: number, flags?: CallFlags): Promise<boolean> {
    const known = this.#ledger.get(token);
    const now = Date.now();
    if (known?.flags.early && known.payload.call === call.id) {
      this.#ledger.announced(token);
      if (known.outcome) this.#handover.ended(known, known.outcome, now);
    }
    if (known) return true;
    if (this.#ledger.isFull(call.agent)) {
      logInfo("job.too_many", { agent: call.agent, job: token });
      return false;
    }
    const order: AgentCommand = {
      command: JOB,
      payload: { call: call.id, tool: call.payload.tool },
      silenceMs: withinMs,
      totalMs: withinMs,
      idempotent: false,
    };
    const { conversation, agent, caller } = call;
    this.#ledger.add(
      {
        id: token,
        conversation,
        agent,
        caller,
        order,
        lateFor: call.lateFor ?? call.id,
        ...(flags && { flags }),
      },
      this.#writer.nextN(now),
      "taken",
      now,
    );
    await this.arm();
    return true;
  }

  /** Sends a call once more, or for the first time when it had to wait: then its time starts now. */
  async #sendAnew(call: LedgerCall, now: number): Promise<void> {
    const n = this.#writer.nextN(now);
    const waited = call.state === "asking" || call.state === "waiting";
    const endsAt = waited ? now + this.#runTime(call) : call.endsAt;
    if (waited) this.#ledger.restart(call.id, endsAt - now, now);
    this.#ledger.sent(call.id, n, now);
    await this.#send({ ...call, n, endsAt }, now);
  }

  /** How long a call may take once it is on its way. */
  #runTime(call: LedgerCall): number {
    const inWords = call.command === "prompt" && this.#agents.features(call.agent).length > 0;
    return inWords ? PROMPT_MAX_MS : call.silenceMs;
  }

  async #send(call: LedgerCall, now: number): Promise<void> {
    const left = call.endsAt - now;
    const payload = await this.#writer.compose(call, left - AGENT_MARGIN_MS, now);
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

  /** Sends what is open once more: after the bridge came back, or an agent did. */
  async resend(agentId: string | undefined): Promise<void> {
    const now = Date.now();
    const heard = this.#bridge.heardAt(now);
    for (const call of this.#ledger.open(agentId)) {
      if (call.state === "asking" || call.command === JOB) continue;
      // A foreign agent has no ledger: what it may have got once, it never gets again.
      if (this.#isForeign(call) && call.state !== "waiting") continue;
      if (call.endsAt - now <= AGENT_MARGIN_MS) continue;
      if (this.#waitsForAgent(call, heard)) continue;
      if (this.#isHeldBack(call, now)) continue;
      await this.#sendAnew(call, now);
    }
  }

  /** Queued calls wait for their agent, and for a program that fits; any other is left to the bridge's judgement. */
  #waitsForAgent({ agent, flags }: LedgerCall, heard: number | null): boolean {
    if (!flags.queued) return false;
    const target = this.#agents.target(agent, heard, this.served);
    return !target?.online || target.misfit !== undefined;
  }

  /** Its agent is there and was to ask a person, but told since that it cannot, or has not told yet what it can do. */
  #isHeldBack(call: LedgerCall, now: number): boolean {
    const { agent, flags } = call;
    return flags.asks === true && !this.asks(agent) && !this.#waitsForAgent(call, this.#bridge.heardAt(now));
  }

  /** By its report; the first outcome counts. @returns false when something else settled it meanwhile */
  async settle(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    return await this.#handover.settle(call, outcome);
  }

  /** By Home's own word: refused, not approved, silent for too long. @returns false when it was settled before */
  async conclude(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    return await this.#handover.conclude(call, outcome);
  }

  /** What is kept for their conversation can be taken from now on. */
  async handOverNow(ids: readonly string[]): Promise<void> {
    this.#handover.due(ids);
    await this.arm();
  }

  /** A report that comes after the call was given up: the truth, late. */
  async settleLate(call: LedgerCall, outcome: SettledOutcome): Promise<void> {
    await this.#handover.settleLate(call, outcome);
  }

  /**
   * Tells the devices to stop.
   * @param conversation whose calls they are
   * @returns those that were sent: what they did until now is unknown
   */
  async cancel(ids: readonly string[], conversation: string): Promise<string[]> {
    const now = Date.now();
    const sent: string[] = [];
    for (const id of ids) {
      const call = this.#ledger.get(id);
      if (!call) await this.#bury(id, conversation, now);
      else if (call.outcome !== undefined || (await this.#stop(call, now))) sent.push(id);
    }
    return sent;
  }

  /** @returns whether it may have run */
  async #stop(call: LedgerCall, now: number): Promise<boolean> {
    const sent = call.state === "sent" || call.state === "taken";
    // A tool that waits for its own approval has done nothing; what runs others may have, before one of them asked.
    const isHeld = call.command === "tool" && this.#home.questions.asksFor(call.id, call.payload.tool);
    const mayHaveRun = sent && !isHeld;
    const text = mayHaveRun
      ? "Cancelled while the device was at it: it may or may not have run."
      : "Cancelled. Nothing was run.";
    const errorType = mayHaveRun ? "outcome_unknown" : "execution_failed";
    const elapsedMs = now - call.createdAt;
    const outcome: SettledOutcome = { status: "error", errorType, text, elapsedMs, sources: [] };
    // The conversation that cancels knows already.
    if (this.#ledger.settle(call.id, outcome, true, now)) this.#handover.ended(call, outcome, now);
    if (sent) await this.#tellToStop(call, now);
    return mayHaveRun;
  }

  async #tellToStop(call: LedgerCall, now: number): Promise<void> {
    await this.#tellAgent(call, "cancel", { request_id: call.id }, now);
  }

  /** A call that is cancelled before it got here must not start when it does. */
  async #bury(id: string, conversation: string, now: number): Promise<void> {
    const order: AgentCommand = {
      command: "cancelled",
      payload: {},
      silenceMs: 1,
      totalMs: 1,
      idempotent: true,
    };
    const caller: Caller = GATEWAY;
    const call = this.#ledger.add({ id, conversation, agent: NOBODY, caller, order }, 0, "waiting", now);
    await this.#stop(call, now);
  }

  /** An agent that is there learns its gateway's version, so that its own log and status can tell whether it fits. */
  async greet({ id, online }: { id: string; online: boolean }): Promise<void> {
    const told = { agent: id, caller: GATEWAY };
    if (online) await this.#tellAgent(told, "gateway", { version: VERSION }, Date.now());
  }

  /** Somebody watches these calls from now on. */
  async watch(ids: readonly string[]): Promise<void> {
    const now = Date.now();
    for (const id of ids) {
      const call = this.#ledger.get(id);
      if (!call || call.outcome) continue;
      if (!call.flags.watch) this.#ledger.watched(id);
      await this.#tellAgent(call, "watch", { request_id: id }, now);
    }
  }

  /** A question that nobody is asked. Nothing is stored: the agent says it again, and is told again. */
  async refuseQuestion(call: LedgerCall, question: string, isApproval: boolean, why: string): Promise<void> {
    const now = Date.now();
    const payload = { question_id: question, answer: isApproval ? "deny" : why, by: "gateway", refused: why };
    const id = crypto.randomUUID();
    const { agent, caller } = call;
    const written = { agent, command: "answer", payload, id, caller, n: this.#writer.nextN(now) };
    const text = await this.#writer.compose(written, ANSWER_LIFE_MS, now);
    this.#bridge.send({ t: "publish", agent, payload: text }, now);
  }

  /** A word to the agent of a call, in the middle of it. */
  async tell(call: LedgerCall, command: "upload", payload: Record<string, unknown>): Promise<void> {
    await this.#tellAgent(call, command, payload, Date.now());
  }

  async #tellAgent(
    { agent, caller }: Pick<LedgerCall, "agent" | "caller">,
    command: Notice,
    payload: Record<string, unknown>,
    now: number,
  ): Promise<void> {
    const text = await this.#writer.notice(agent, command, payload, caller, now);
    if (text !== undefined) this.#bridge.send({ t: "publish", agent, payload: text }, now);
  }

  /** The report is stored: the bridge and, where it knows the word, the agent may forget it. */
  async acknowledge(id: string, agent: string, caller: Caller | undefined): Promise<void> {
    const now = Date.now();
    const payload = await this.#writer.notice(agent, "ack", { request_id: id }, caller ?? GATEWAY, now);
    this.#bridge.send({ t: "ack", id, agent, ...(payload !== undefined && { payload }) }, now);
  }

  /** A report that is not believed: the bridge may forget it. The agent is told nothing. */
  dismiss(id: string, agent: string): void {
    this.#bridge.send({ t: "ack", id, agent }, Date.now());
  }

  /** What the alarm is for: calls that were not taken, that ran out of time, that could not be handed over. */
  async tend(): Promise<void> {
    this.#armed = undefined;
    const now = Date.now();
    try {
      this.#bridge.dropStrangers(now);
      const untaken = this.#ledger.untaken(now);
      for (const call of untaken) this.#ledger.taken(call.id);
      this.#cutDeadLine(untaken, now);
      for (const { id } of this.#ledger.overdue(now)) {
        // As it is by now: while another was handed over it may have gone out, or been heard of.
        const call = this.#ledger.get(id);
        if (!call || call.deadline > now) continue;
        const what = call.command === "tool" ? `'${String(call.payload.tool)}'` : `the ${call.command}`;
        const delivered = call.state === "sent" || call.state === "taken";
        const outcome = silenceOutcome(
          call.agent,
          what,
          now - call.createdAt,
          delivered,
          call.idempotent,
          call.flags.cut === true,
          this.#isHeldBack(call, now),
        );
        // Should it still be at it, or get the call only now: nobody waits for what it would do.
        if ((await this.conclude(call, outcome)) && delivered) await this.#tellToStop(call, now);
      }
      await this.#handover.again(now);
      tidy(this.#home, now);
    } finally {
      await this.arm();
    }
  }

  /**
   * A bridge that takes no call, or was not heard of for too long, sits at the end of a dead line (TCP may believe in it for
   * minutes). What is out there is sent again when a bridge comes back; should none come, who waits is told soon.
   */
  #cutDeadLine(untaken: readonly LedgerCall[], now: number): void {
    const lostAt = this.#bridge.lostAt();
    if (lostAt === undefined) return;
    // Only what this bridge was sent says something of it.
    const since = this.#bridge.connectedSince(now) ?? now;
    const isDead = lostAt <= now;
    if (!isDead && !untaken.some((call) => (call.sentAt ?? 0) >= since)) return;
    const unheard = new Set(untaken.map(({ id }) => id));
    for (const call of this.#exposed()) {
      // A foreign agent never gets again what it may have got: a bridge that comes back brings no answer to that.
      const isLost = this.#isForeign(call) && (call.state === "sent" || unheard.has(call.id));
      this.#ledger.cut(call.id, lostAt, !isLost);
    }
    const vouchedAt = this.#bridge.vouchedAt();
    this.#bridge.dropSilent();
    // The end of such a socket may be told much later, or never.
    if (this.#bridge.noteGone(vouchedAt ?? now)) this.#agents.vouchedUntil(vouchedAt ?? now);
  }

  /** Whether an agent can ask a person, as it says now. */
  asks(agent: string): boolean {
    return this.#agents.features(agent).includes("question");
  }

  #isForeign({ agent }: LedgerCall): boolean {
    return this.#agents.features(agent).length === 0;
  }

  /** Calls that wait for a word over the line. One that waits for a person has time: its answer goes out when the line is back. */
  #exposed(): LedgerCall[] {
    return this.#ledger.out().filter(({ id }) => this.#home.questions.openOf(id).length === 0);
  }

  /** When somebody who waits has to be told that the line is dead. */
  #lineDue(): number | undefined {
    const lostAt = this.#bridge.lostAt();
    return lostAt !== undefined && this.#exposed().length > 0 ? lostAt : undefined;
  }

  /** A bridge is there again. */
  bridgeBack(): void {
    this.#ledger.mend(Date.now());
  }

  /** Sets the alarm to whatever is due first. An alarm that stands earlier is left: it looks again itself. */
  async arm(): Promise<void> {
    const now = Date.now();
    const due = [
      this.#ledger.nextDue(),
      this.#handover.nextDue(),
      this.#bridge.dropStrangers(now),
      this.#lineDue(),
      ...this.#alsoDue.map((due) => due()),
    ];
    const next = Math.min(...due.filter((time) => time !== undefined));
    // What an object that was rebuilt has to try again is due at once.
    if (Number.isFinite(next)) await this.#wakeBy(Math.max(next, now));
  }

  async #wakeBy(time: number): Promise<void> {
    if (this.#armed !== undefined && this.#armed <= time) return;
    this.#armed = time;
    await this.#ctx.storage.setAlarm(time);
  }
}
