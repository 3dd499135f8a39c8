/** Sends a chat the events of its turns: questions, devices' words, the model's words as they come, and the end. */

import { agentOfCall } from "@edgecall/core/loop/history.ts";
import { askedText } from "@edgecall/core/phrases/asked-text.ts";
import { graphemeCut } from "@edgecall/core/text/cut.ts";
import type { AskedPerson } from "../../../kernel/api/answers.ts";
import type { PressedButton } from "../../../kernel/api/notices.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { ChatView } from "../../../kernel/conversation/chat-view.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { slot } from "../../../kernel/conversation/slot.ts";
import type { StoredCall, Turn } from "../../../kernel/conversation/store/rows.ts";
import { phrasesOf } from "../../../kernel/phrases.ts";
import { PLATFORM_NAMES } from "../../../kernel/settings/chat.ts";
import { platformOf } from "../platforms/all.ts";
import { connectionOf } from "../platforms/connections.ts";
import { Outbox } from "./outbox.ts";
import { fetchPictures } from "./pictures.ts";

export class ChatSession implements ChatView {
  readonly #context: ConversationContext;
  readonly outbox: Outbox;

  constructor(context: ConversationContext) {
    this.#context = context;
    this.outbox = new Outbox(context);
  }

  wake(): void {
    this.outbox.go();
  }

  async fetch(turn: Turn): Promise<boolean> {
    return await fetchPictures(this.#context, turn);
  }

  ended(turn: Turn): void {
    if (turn.origin.reply) this.outbox.go();
  }

  asked(turn: Turn, question: string): void {
    const address = replyAddress(turn);
    if (!address) return;
    this.outbox.ask(turn.n, address, question);
    this.outbox.go();
  }

  askedMore(turn: Turn, people: readonly AskedPerson[]): void {
    const address = replyAddress(turn);
    if (!address) return;
    this.outbox.say(address, askedText(people, phrasesOf(turn.origin.language)), "plain");
    this.outbox.go();
  }

  closed(turn: Turn, question: string): void {
    if (!replyAddress(turn)) return;
    this.outbox.close(question);
    this.outbox.go();
  }

  progress(turn: Turn): void {
    const address = replyAddress(turn);
    if (!address || turn.status !== "running") return;
    const hasCalls = this.#context.transcript
      .entriesOf(turn.n)
      .some((entry) => entry.role === "assistant" && entry.calls.length > 0);
    if (!hasCalls) return;
    this.outbox.typing(address);
    this.outbox.live.list(turn.n, address);
  }

  note(id: string, words: string): void {
    const call = this.#context.transcript.call(id);
    const turn = call && this.#context.transcript.turnAt(call.turn);
    if (!turn || call.outcome) return;
    this.outbox.live.note(id, words);
    this.progress(turn);
  }

  forUser(turn: Turn, call: StoredCall): void {
    const { outcome } = call;
    const address = replyAddress(turn);
    if (!address || outcome?.forUser === undefined || outcome.text.includes(outcome.forUser)) return;
    this.outbox.say(address, deviceText(agentOfCall(call) ?? "", outcome.forUser), "markdown");
    this.outbox.go();
  }

  notify(turn: Turn, text: string, id: string): void {
    const address = replyAddress(turn);
    if (!address) return;
    this.outbox.notify(turn.n, address, text, id);
    this.outbox.go();
  }

  delta({ n }: Turn, text: string, at: number): void {
    // Read again: the model's last words may come after the turn was ended.
    const turn = this.#context.transcript.turnAt(n);
    const address = turn?.status === "running" ? replyAddress(turn) : undefined;
    if (address) this.outbox.live.say(n, address, text, at);
  }

  pressed(press: PressedButton, words: string): boolean {
    const isShown = this.outbox.closeRule(press, words);
    if (isShown) this.outbox.go();
    return isShown;
  }

  /** The chat itself, if it is a private one without messages. */
  async unsolicitedPlace(last: Address | undefined): Promise<{ place: Address } | { refused: string }> {
    const place = last ?? (await this.#privateChat());
    if (!place) return { refused: "nobody has written here since the chat began anew" };
    const refused = await this.outbox.refusal(place);
    return refused === undefined ? { place } : { refused };
  }

  async #privateChat(): Promise<Address | undefined> {
    const { env, name } = this.#context;
    const [home = "", channel = "", place = ""] = name.split("/");
    const [, connection = "", person = ""] = /^([^:]+):(?:to:)?([^:]+)$/.exec(place) ?? [];
    const known = await connectionOf(env, home, channel, connection);
    const chat = known && platformOf(channel)?.privateChat?.(known, person);
    return chat?.conversation === place ? chat.address : undefined;
  }
}

const sessionOf = slot((context) => new ChatSession(context));

/** @returns undefined: the conversation takes place in no chat app */
export function chatOf(context: ConversationContext): ChatSession | undefined {
  const channel = context.name.split("/")[1] ?? "";
  return (PLATFORM_NAMES as readonly string[]).includes(channel) ? sessionOf(context) : undefined;
}

/** In a chat, a longer text would push the answer out of sight. */
const FOR_USER_CHARS = 1_200;

/** A device's own words, as code: nothing in them is a link, a mention or a mark. */
function deviceText(agent: string, text: string): string {
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
