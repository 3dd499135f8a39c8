/** Calls come in: of a conversation's model, and from the API. Refused in words, queued, held for a person, or sent. */
import { agentSource, isTainted } from "@edgecall/core/loop/taint.ts";
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { type Advised, asAdvised } from "@edgecall/core/tools/advice.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { CommandRequest, SettledOutcome, SubmitReply, SubmitRequest } from "../../api/calls.ts";
import { AGENT_COMMANDS, type AgentCommand, toAgentCommand } from "../../api/edge-call.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { type Asked, homeLine, NOBODY } from "../audit/audit-lines.ts";
import type { HomeContext } from "../context.ts";
import type { Asking } from "../questions/asking.ts";
import type { Dispatcher, NewOrder, Unreached } from "./dispatcher.ts";

export class Intake {
  readonly #home: HomeContext;
  readonly #dispatcher: Dispatcher;
  readonly #asking: Asking;

  constructor(home: HomeContext, dispatcher: Dispatcher, asking: Asking) {
    this.#home = home;
    this.#dispatcher = dispatcher;
    this.#asking = asking;
  }

  /** Takes a call of `edge_call`, once for each id. */
  async submit(request: SubmitRequest): Promise<SubmitReply> {
    const reply = await this.#submit(request);
    // What was sent is counted when it is settled.
    if (!reply.accepted && !this.#home.ledger.get(request.id)) {
      const { agent_id, action, params, query } = request.args;
      this.#home.tallies.called(agent_id, action ?? "prompt", 0, reply.outcome);
      const payload = action === undefined ? { prompt: query } : { tool: action, parameters: params ?? {} };
      const command = action === undefined ? "prompt" : "tool";
      // A model may have invented it; its words are in the error.
      const agent = AGENT_ID.test(agent_id) ? agent_id : NOBODY;
      this.#note({ id: request.id, agent, command, payload, caller: request.caller }, reply.outcome);
    }
    return reply;
  }

  /** What no device hears of, Home puts on record. */
  #note(asked: Asked, outcome: SettledOutcome): void {
    this.#home.audit.add(asked.agent, asked.id, [homeLine(asked, outcome, Date.now())]);
  }

  async #submit(request: SubmitRequest): Promise<SubmitReply> {
    const known = this.#home.ledger.get(request.id);
    // Its result comes as a message of its own, also where the conversation did not hear that it was queued.
    if (known?.flags.queued)
      return queued(known.id, known.agent, known.deadline - Date.now(), known.state === "asking");
    if (known)
      return known.outcome
        ? { accepted: false, outcome: known.outcome }
        : { accepted: true, deadline: known.endsAt };
    const { id, conversation, caller, args, watched: watch, limits = {} } = request;
    const tainted = this.#isTainted(request);
    const settings = readSettings(this.#home.env);
    if (limits.agents && !limits.agents.includes(args.agent_id))
      return refusal("permission_denied", outOfReach(args.agent_id));
    const found = this.#dispatcher.reach(args.agent_id, args.query === undefined ? args.action : undefined);
    if (!found.ok) return await this.#unreachable(request, found, settings);
    const { target } = found;
    const ordered = toAgentCommand(args, target, settings);
    if (!ordered.ok) return refusal("invalid_params", ordered.text, target);
    if (limits.readsOnly && !ordered.order.readOnly) return refusal("permission_denied", READS_ONLY);
    const needsPerson = tainted && !ordered.order.readOnly;
    // An agent of ours asks by its own policy; one that cannot ask is asked for here.
    const asks = needsPerson && target.asks;
    const order: NewOrder = {
      id,
      conversation,
      caller,
      agent: target.id,
      order: ordered.order,
      flags: { ...(watch && { watch }), ...(tainted && { tainted }), ...(asks && { asks }) },
    };
    if (needsPerson && !asks) {
      return { accepted: true, deadline: await this.#asking.beforeSending(order, reasonOf(conversation)) };
    }
    return { accepted: true, deadline: await this.#dispatcher.dispatch(order) };
  }

  /** No conversation of ours remembers what another program's model was shown of our agents. */
  #isTainted({ conversation, tainted, args }: SubmitRequest): boolean {
    if (tainted || conversation !== null) return tainted;
    const shown = this.#home.agents.roster(null, this.#dispatcher.served).filter(({ newText }) => newText);
    return isTainted(
      shown.map(({ id }) => agentSource(id)),
      { agent: args.agent_id },
    );
  }

  /** An agent that is not there; a call that may wait for it does. */
  async #unreachable(request: SubmitRequest, found: Unreached, settings: Settings): Promise<SubmitReply> {
    const { target } = found;
    const order = target && toAgentCommand(request.args, target, settings);
    if (!target || !order?.ok || order.order.queueMs === undefined)
      return refusal(found.errorType, found, target);
    const { id, conversation, caller, limits = {} } = request;
    const tainted = this.#isTainted(request);
    if (limits.readsOnly && !order.order.readOnly) return refusal("permission_denied", READS_ONLY);
    const { queueMs } = order.order;
    const needsPerson = tainted && !order.order.readOnly;
    const isHeld = needsPerson && !target.asks;
    const flags = { ...(tainted && { tainted }), ...(needsPerson && !isHeld && { asks: true }) };
    const call: NewOrder = { id, conversation, caller, agent: target.id, order: order.order, flags };
    if (isHeld) {
      const held = { ...call, order: { ...call.order, totalMs: queueMs }, flags: { ...flags, queued: true } };
      await this.#asking.beforeSending(held, reasonOf(conversation));
    } else await this.#dispatcher.queue(call, queueMs);
    return queued(id, target.id, queueMs, isHeld);
  }

  /** One command to one agent, from the API; its report comes over `/wait?call=`. */
  async command(request: CommandRequest): Promise<SubmitReply> {
    const known = this.#home.ledger.get(request.id);
    if (known?.outcome) return { accepted: false, outcome: known.outcome };
    if (known) return { accepted: true, deadline: known.endsAt };
    const found = this.#dispatcher.reach(request.agent, request.order.payload.tool);
    const { target } = found;
    // A foreign agent may know others.
    if (!target?.foreign && !AGENT_COMMANDS.has(request.order.command))
      return refusal(
        "invalid_params",
        `command: expected one of ${[...AGENT_COMMANDS].join(", ")}, got '${request.order.command}'; only a foreign agent may take another`,
      );
    if (!found.ok) {
      const refused = refusal(found.errorType, found);
      this.#note({ ...request, ...request.order }, refused.outcome);
      return refused;
    }
    const order = found.target.foreign
      ? foreignOrder(request.order, readSettings(this.#home.env))
      : request.order;
    return {
      accepted: true,
      deadline: await this.#dispatcher.dispatch({ ...request, order, conversation: null }),
    };
  }
}

/** It tells nothing while it works, and knows no time-out: the same for each of its commands. */
function foreignOrder(order: AgentCommand, { foreignTimeoutMs }: Settings): AgentCommand {
  if (typeof order.payload.timeout_ms === "number") return order;
  return { ...order, silenceMs: foreignTimeoutMs, totalMs: foreignTimeoutMs };
}

/** @param asks a person has to approve it first */
function queued(id: string, agent: string, forMs: number, asks: boolean): SubmitReply & { accepted: false } {
  const when = asks
    ? "A person is asked to approve this first. Once approved, the agent gets it"
    : "It gets this";
  const text = `Queued: agent '${agent}' is not online. ${when} as soon as it comes online, within ${inWords(forMs)}; the result then arrives as a message of its own. Nothing has run yet.`;
  return {
    accepted: false,
    outcome: { status: "success", text, advice: "Tell the user that.", elapsedMs: 0, job: id, sources: [] },
  };
}

/** @param target whose words may be in the text: why it is away, what its actions are called; undefined: nobody's */
function refusal(
  errorType: ErrorType,
  words: string | Advised,
  target?: { id: string },
): SubmitReply & { accepted: false } {
  const sources = target ? [agentSource(target.id)] : [];
  return {
    accepted: false,
    outcome: { status: "error", errorType, ...asAdvised(words), elapsedMs: 0, sources },
  };
}

const READS_ONLY: Advised = {
  text: "Error: Permission denied: in this chat only actions that read are allowed. Nothing was run.",
  advice:
    "Use an action that reads, by its name, or explain to the user that this has to be asked in another chat.",
};

function outOfReach(agent: string): Advised {
  return {
    text: `Error: Permission denied: agent '${agent}' is not in reach of this caller. Nothing was run.`,
    advice: "Explain this to the user.",
  };
}

/** Why a call to an agent that cannot ask itself needs an approval. */
const STRANGERS_TEXT = "the conversation holds a text of another device, a file, the web or a picture";
const UNSEEN_TEXT = "it comes from another program's model, which may have read anything";

function reasonOf(conversation: string | null): string {
  return conversation === null ? UNSEEN_TEXT : STRANGERS_TEXT;
}

function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${Math.max(1, minutes)} min` : `${Math.round(minutes / 60)} h`;
}
