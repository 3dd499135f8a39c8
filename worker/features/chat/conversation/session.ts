/** Sends a chat the events of its turns: questions, devices' words, the model's words as they come, and the end. */

import { agentOfCall } from "@edgecall/core/loop/history.ts";
import { graphemeCut } from "@edgecall/core/text/cut.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { StoredCall, Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import type { ChatContext } from "./chat-context.ts";
import { Outbox } from "./outbox.ts";

export class ChatSession {
  readonly #transcript: Transcript;
  readonly outbox: Outbox;

  constructor(context: ChatContext) {
    this.#transcript = context.transcript;
    this.outbox = new Outbox(context);
  }

  /** Sends what was left unsent by an object that was replaced. */
  wake(): void {
    this.outbox.go();
  }

  /** The turn has ended; its row stands. */
  ended(turn: Turn): void {
    if (turn.origin.reply) this.outbox.go();
  }

  asked(turn: Turn, question: string): void {
    const address = replyAddress(turn);
    if (!address) return;
    this.outbox.ask(turn.n, address, question);
    this.outbox.go();
  }

  closed(turn: Turn, question: string): void {
    if (!replyAddress(turn)) return;
    this.outbox.close(question);
    this.outbox.go();
  }

  /** The model has asked for calls, or one of them was answered. */
  progress(turn: Turn): void {
    const address = replyAddress(turn);
    if (!address || turn.status !== "running") return;
    const hasCalls = this.#transcript
      .entriesOf(turn.n)
      .some((entry) => entry.role === "assistant" && entry.calls.length > 0);
    if (!hasCalls) return;
    this.outbox.typing(address);
    this.outbox.live.list(turn.n, address);
  }

  /** Words about a call that has no outcome yet; "": none any more. */
  note(id: string, words: string): void {
    const call = this.#transcript.call(id);
    const turn = call && this.#transcript.turnAt(call.turn);
    if (!turn || call.outcome) return;
    this.outbox.live.note(id, words);
    this.progress(turn);
  }

  /** Sends a call's text for the person as a message of its own; the model reads another one. */
  forUser(turn: Turn, call: StoredCall): void {
    const { outcome } = call;
    const address = replyAddress(turn);
    if (!address || outcome?.forUser === undefined || outcome.text.includes(outcome.forUser)) return;
    this.outbox.say(address, deviceWords(agentOfCall(call) ?? "", outcome.forUser), "markdown");
    this.outbox.go();
  }

  /** Sends what a rule says, with the buttons that its turn or call has. @param id of the notice's turn, or of the call that made the rule */
  tell(turn: Turn, text: string, id: string): void {
    const address = replyAddress(turn);
    if (!address) return;
    this.outbox.tell(turn.n, address, text, id);
    this.outbox.go();
  }

  /** The model's words as they come. @param at how many characters of its step came before; 0 makes those before void */
  delta({ n }: Turn, text: string, at: number): void {
    // Read again: the model's last words may come after the turn was ended.
    const turn = this.#transcript.turnAt(n);
    const address = turn?.status === "running" ? replyAddress(turn) : undefined;
    if (address) this.outbox.live.say(n, address, text, at);
  }
}

/** In a chat, a longer text would push the answer out of sight. */
const FOR_USER_CHARS = 1_200;

/** A device's own words, as code: nothing in them is a link, a mention or a mark. */
function deviceWords(agent: string, text: string): string {
  const end = graphemeCut(text, FOR_USER_CHARS);
  const shown = end < text.length ? `${text.slice(0, end)}\n… ${text.length - end} more characters` : text;
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `From ${agent.replace(/[^\w.@-]/g, "")}:\n${fence}\n${shown}\n${fence}`;
}

function replyAddress({ origin }: Turn): Address | undefined {
  // SAFETY: only chats set it, from an Address (chat/incoming.ts).
  return origin.reply as Address | undefined;
}
