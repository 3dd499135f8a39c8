/**
 * Shows a turn in a chat before its answer is there, where messages can be edited: the devices' calls, a line each, and the
 * model's words so far. A message is edited now and then, when nothing else is to be sent; text between two edits is left
 * out. The words' message becomes the answer, so its id has a row. The words themselves have none.
 */

import { agentOfCall } from "@edgecall/core/loop/history.ts";
import { graphemeCut } from "@edgecall/core/text/cut.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { Env } from "../../../kernel/env.ts";
import { logError } from "../../../kernel/log.ts";
import { phrasesOf } from "../../../kernel/phrases.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import type { ChatPlatform } from "../platforms/chat-platform.ts";
import { type Content, withLine } from "../platforms/format/blocks.ts";
import { split } from "../platforms/format/split.ts";
import { PlatformError } from "../platforms/platform-request.ts";
import { callLine, type Named } from "./call-line.ts";
import { readMarkdown } from "./markdown.ts";
import type { PlatformLine, Way } from "./platform-line.ts";

/** Words are gathered for so long: what a phone rings with should say something, and a quick answer comes at once. */
const DRAFT_AFTER_MS = 1_500;
/** No chat sees two edits within this time, not even when the second one is the answer. */
const EDIT_GAP_MS = 1_000;
/** Ends words that go on. On a line of its own: it must not touch the end of a code fence. */
const MORE = "…";
/** Room for `MORE` as any platform writes it. */
const MORE_ROOM = 100;
/** Markup is at most so much longer than what it shows that these words still fill a message. Only they are read for a draft. */
const DRAFT_READ = 3;

/**
 * Below the number of any turn, in the table of the lists: the message with the words. One is enough, since turns run one
 * after the other, and none is shown before the answers of those before it are sent.
 */
const DRAFT = 0;

/** @property sent what the platform was sent last: more than a message takes changes nothing in it */
type Shown = { turn: number; address: Address; way?: Way | undefined; sent?: string };

export class Live extends SqlStore {
  readonly #context: ConversationContext;
  readonly #platform: PlatformLine;
  readonly #onDue: () => void;
  #list: Shown | undefined;
  #words: (Shown & { text: string; isNew?: boolean }) | undefined;
  /** Words beside a call's line, by the call's id. Of one turn; lost with the object, as they are in no row. */
  readonly #notes = new Map<string, string>();
  /** Agents by their ids, as Home's newest plan has them. A line keeps a name that it had once. */
  readonly #named = new Map<string, Named>();
  /** Turn and text of the newest list that is shown. */
  #listed = "";
  #shownAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** A message is on its way: the pace counts from its answer, so no timer is set before that. */
  #isPutting = false;

  /** @param onDue there is something to show: the sender is to call `show` when nothing else is to be sent */
  constructor(context: ConversationContext, platform: PlatformLine, onDue: () => void) {
    super(context.ctx.storage);
    this.#context = context;
    this.#platform = platform;
    this.#onDue = onDue;
  }

  /** Something happened with a call. */
  list(turn: number, address: Address): void {
    this.#list = { turn, address };
    // Words before calls stay if they are shown already, and are not shown otherwise.
    if (this.#words) this.#words.isNew = false;
    this.#soon(address, 0);
  }

  note(call: string, words: string): void {
    this.#notes.set(call, words);
  }

  /** @param at how many characters of the step came before it; 0: the text before is void */
  say(turn: number, address: Address, text: string, at: number): void {
    if (at === 0) this.#words = { turn, address, text: "" };
    // The platform does not take them.
    if (!this.#words) return;
    this.#words.text += text;
    this.#words.isNew = true;
    this.#soon(address, DRAFT_AFTER_MS);
  }

  /** A timer in the object that asks the model just now, or did so a moment ago: it keeps nothing awake. */
  #soon(address: Address, leastMs: number): void {
    if (this.#isPutting) return;
    const every = this.#platform.editEveryMs(address);
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#onDue();
      },
      Math.max(leastMs, this.#shownAt + every - Date.now()),
    );
  }

  /** For the sender, when nothing else is to be sent: so an edit never overtakes another. */
  async show(): Promise<void> {
    const list = this.#list;
    const words = this.#words;
    if (this.#timer !== undefined) return;
    if (list) {
      this.#list = undefined;
      await this.#put(list);
    } else if (words?.isNew) {
      words.isNew = false;
      await this.#put(words, words.text);
    }
  }

  /** @param words the model's; undefined: the list of calls */
  async #put(shown: Shown, words?: string): Promise<void> {
    const { turn } = shown;
    this.#isPutting = true;
    try {
      shown.way ??= await this.#platform.way(shown.address);
      if (!shown.way?.channel.editEveryMs) return;
      const { channel, line } = shown.way;
      const opening = channel.opening?.(line);
      // Once the time for that is over there is no message of ours to change.
      if (channel.opening && opening === undefined) return;
      const isList = words === undefined;
      const key = isList ? turn : DRAFT;
      const own = this.#message(key);
      // The list of calls replaces the words before them; the answer stands below the list.
      const edit = opening ?? own ?? this.#message(DRAFT);
      if (words === "" && edit === undefined) return;
      const listed = isList ? this.#lines(turn) : "";
      const { env } = this.#context;
      const content = isList ? await readMarkdown(env, listed) : await draft(env, words, channel);
      const sent = JSON.stringify(content.blocks);
      if (sent === shown.sent) return;
      shown.sent = sent;
      const message = await channel.text(line, content, { nonce: "", live: isList ? "list" : "words", edit });
      if (isList) this.#listed = turn + listed;
      if (opening !== undefined || message === undefined || message === own) return;
      this.#context.tables.need("status_message");
      if (message === edit) this.sql.exec("DELETE FROM status_message WHERE turn = ?", DRAFT);
      this.sql.exec("INSERT OR REPLACE INTO status_message (turn, message) VALUES (?, ?)", key, message);
    } catch (error) {
      logError("live.failed", error, { conversation: this.#context.name });
      this.#platform.noteRefusal(error);
      // It was deleted, or may not be changed: not again in this step.
      if (words !== undefined && error instanceof PlatformError && error.refusal.kind !== "again")
        this.#words = undefined;
    } finally {
      // From when the platform has it.
      this.#shownAt = Date.now();
      this.#isPutting = false;
      const next = this.#list ?? (this.#words?.isNew ? this.#words : undefined);
      if (next) this.#soon(next.address, 0);
    }
  }

  /**
   * Before the first message that a row makes: if it is an answer, the record of its calls gets its last word.
   * @param turn whose answer it is; null: other words
   * @returns the message whose place it takes, where there is one
   */
  async place(turn: number | null, address: Address, opening?: string): Promise<string | undefined> {
    let edit = opening;
    if (turn !== null && opening === undefined) {
      if (this.#message(turn) !== undefined && this.#listed !== turn + this.#lines(turn))
        await this.#put({ turn, address });
      edit = this.#message(DRAFT);
    }
    const wait = this.#shownAt + EDIT_GAP_MS - Date.now();
    if (edit !== undefined && wait > 0) await scheduler.wait(wait);
    return edit;
  }

  /** The turn's answer is sent, or given up. What another one is saying already is then not shown before its next step. */
  answered(turn: number | null): void {
    if (this.#hasRows()) this.sql.exec("DELETE FROM status_message WHERE turn IN (?, ?)", DRAFT, turn);
    this.#rest();
  }

  /** Turns are counted anew. The draft stays one: the answer to it is still to be sent. */
  forgetTurns(): void {
    if (this.#hasRows()) this.sql.exec("DELETE FROM status_message WHERE turn <> ?", DRAFT);
    this.#rest();
  }

  /** The calls of a turn, a line each. */
  #lines(turn: number): string {
    const calls = this.#context.transcript
      .entriesOf(turn)
      .flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
    for (const agent of this.#context.plan?.plan.roster.agents ?? []) this.#named.set(agent.id, agent);
    const phrases = phrasesOf(this.#context.transcript.turnAt(turn)?.origin.language);
    return calls
      .filter(({ same }) => same === undefined)
      .slice(-STATUS_LINES)
      .map((call) =>
        callLine(call, this.#named.get(agentOfCall(call) ?? ""), phrases, this.#notes.get(call.id)),
      )
      .join("\n");
  }

  #rest(): void {
    this.#notes.clear();
    this.#named.clear();
    this.#list = undefined;
    this.#words = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #hasRows(): boolean {
    return this.#context.tables.has("status_message");
  }

  #message(turn: number): string | undefined {
    if (!this.#hasRows()) return undefined;
    return this.sql.first<{ message: string }>("SELECT message FROM status_message WHERE turn = ?", turn)
      ?.message;
  }
}

/** The part of the words that fits the first message of the answer. An open code fence is closed in it. */
async function draft(
  env: Pick<Env, "ASSETS">,
  words: string,
  { format, textMax }: ChatPlatform,
): Promise<Content> {
  const begun = await readMarkdown(env, words.slice(0, graphemeCut(words, DRAFT_READ * textMax)));
  return withLine(split(begun, format, textMax - MORE_ROOM)[0] ?? { blocks: [] }, MORE);
}

/** Calls that the list shows: the newest. */
const STATUS_LINES = 10;
