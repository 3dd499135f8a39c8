/**
 * The messages to a chat: rows, sent in their order, each until the platform has it. One sender runs at a time, beside
 * the loop of turns. Before it waits it sets the alarm, so a crash costs a pause and no message. A message may arrive twice:
 * the platform took it, and its answer was lost. A nonce lets a platform drop the repeat.
 */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { MediaContent } from "../../../kernel/api/media.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";
import { homeOf } from "../../../kernel/api/stubs.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import { runLater } from "../../../kernel/conversation/later.ts";
import { filesOf } from "../../../kernel/conversation/store/media.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import { undoButtons } from "../../../kernel/conversation/undo-buttons.ts";
import type { Env } from "../../../kernel/env.ts";
import { logError } from "../../../kernel/log.ts";
import { phrasesOf } from "../../../kernel/phrases.ts";
import { settingsOrError } from "../../../kernel/settings/settings.ts";
import { SettingsError } from "../../../kernel/settings/settings-error.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import { chatIn } from "../conversation-api.ts";
import {
  type Attachment,
  type ChatPlatform,
  type Line,
  type PressedRule,
  ruleButton,
  type TextSending,
} from "../platforms/chat-platform.ts";
import { type Content, plainContent } from "../platforms/format/blocks.ts";
import { sizeOf, split } from "../platforms/format/split.ts";
import { PlatformError } from "../platforms/platform-request.ts";
import { choicesOf, closedText, questionText } from "../platforms/question-text.ts";
import { findDelivery, idOfSent, rememberDelivery } from "./deliveries.ts";
import { Live } from "./live.ts";
import { readMarkdown } from "./markdown.ts";
import { PlatformLine, type Way } from "./platform-line.ts";

/** Pauses double from the first one: 14 tries are about half an hour. */
const TRIES_MAX = 14;
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 300_000;
/** A message that waits until the person writes again is given up after this. */
const HOLD_MS = 30 * 86_400_000;
/** Longer than any pause between tries: what is due later than this waits for the person. */
const LONGEST_PAUSE_MS = 3_600_000;
/** Below a question, in the same message, stands what became of it. */
const DECISION_ROOM = 400;
/** Before the id in the column of questions. */
const OF_RULE = "rule:";
/** In the column of questions, of words that are shown as they are. */
const PLAIN = "plain";
/** Messages of rules that stand with their buttons. */
const STANDING_MAX = 20;
/** A person always gets an answer. */
const EMPTY_TEXT = "(The answer is empty.)";
/** Telegram shows it for 5 s. */
const TYPING_EVERY_MS = 4_000;

type ReplyRow = {
  id: number;
  turn: number | null;
  kind: "answer" | "words" | "question" | "closed";
  address: string;
  text: string;
  question: string | null;
  nonce: string;
  parts: number;
  message: string | null;
  attempts: number;
  not_before: number;
  sent_at: number | null;
};

export class Outbox extends SqlStore {
  readonly #context: ConversationContext;
  readonly #platform: PlatformLine;
  /** Shown when there is time, and never instead of anything. */
  readonly live: Live;
  #sending = false;
  #again = false;
  /** The time of the person's last message, as far as this instance knows (epoch ms). */
  #lastWroteAt = 0;
  #typedAt = 0;
  #typing: Promise<void> = Promise.resolve();

  constructor(context: ConversationContext) {
    super(context.ctx.storage);
    this.#context = context;
    this.#platform = new PlatformLine(context.env, context.name);
    this.live = new Live(context, this.#platform, () => this.go());
  }

  /** Words beside the turns: a command's, which are shown as they are, or a device's to the person, in Markdown. */
  say(address: Address, text: string, form: "markdown" | "plain"): void {
    this.#context.tables.need("reply");
    this.sql.insert("INTO reply", {
      kind: "words",
      address: JSON.stringify(address),
      text,
      question: form === "plain" ? PLAIN : null,
    });
  }

  ask(turn: number, address: Address, question: string): void {
    this.#context.tables.need("reply");
    this.sql.insert("INTO reply", {
      turn,
      kind: "question",
      address: JSON.stringify(address),
      text: "",
      question,
    });
  }

  /**
   * What a rule says, with the buttons that its turn or call has. A message that stands keeps its row, as the newest ones do.
   * @param id of the notice's turn, or of the call that made the rule
   */
  notify(turn: number, address: Address, text: string, id: string): void {
    this.#context.tables.need("reply");
    this.sql.insert("INTO reply", {
      turn,
      kind: "question",
      address: JSON.stringify(address),
      text,
      question: OF_RULE + id,
    });
    this.sql.exec(
      `DELETE FROM reply WHERE id IN (
         SELECT id FROM reply WHERE sent_at IS NOT NULL AND question LIKE ? ORDER BY id DESC LIMIT -1 OFFSET ?)`,
      `${OF_RULE}%`,
      STANDING_MAX,
    );
  }

  /**
   * It was answered, or nobody needs to any more: the buttons go.
   * @param words below what a rule said; absent: those of the question
   * @returns false: no message of it stands
   */
  close(question: string, words = ""): boolean {
    if (!this.#hasRows()) return false;
    const [asked] = this.sql.all<ReplyRow>`SELECT * FROM reply WHERE question = ${question}
      AND kind = 'question'`;
    if (!asked) return false;
    const isUnsent = asked.sent_at === null && asked.attempts === 0 && asked.parts === 0 && !this.#sending;
    // What a rule says is said, also when its buttons go.
    if (isUnsent && asked.text === "") {
      this.#delete(asked.id);
      return true;
    }
    this.sql.insert("INTO reply", {
      turn: asked.turn,
      kind: "closed",
      address: asked.address,
      text: words,
      question,
    });
    return true;
  }

  /**
   * A button of a rule was pressed: those of its messages go.
   * @param words what came of it
   * @returns false: no message with such a button stands
   */
  closeRule({ rule, occurrence }: Omit<PressedRule, "do">, words: string): boolean {
    if (!this.#hasRows()) return false;
    const standing = this.sql.all<ReplyRow>(
      "SELECT * FROM reply WHERE kind = 'question' AND question LIKE ?",
      `${OF_RULE}%`,
    );
    const pressed = standing.filter((row) =>
      buttonsOf(this.#context.transcript, row).some(
        (button) => button.rule === rule && button.occurrence === occurrence,
      ),
    );
    return pressed.map(({ question }) => this.close(question ?? "", words)).includes(true);
  }

  typing(address: Address): void {
    const now = Date.now();
    if (now - this.#typedAt < TYPING_EVERY_MS || now < this.#platform.quietUntil) return;
    this.#typedAt = now;
    // Nothing hangs on it, not even on CHANNELS being right.
    this.#typing = this.#showTyping(address).catch((error: unknown) => this.#platform.noteRefusal(error));
    this.#later(this.#typing);
  }

  async #showTyping(address: Address): Promise<void> {
    const way = await this.#platform.way(address);
    await way?.channel.typing?.(way.line);
  }

  #later(work: Promise<unknown>): void {
    runLater(this.#context.ctx, this.#context.name, work);
  }

  /** The turns were forgotten: what has to be said still is, without what they brought. */
  forgetTurns(): void {
    if (this.#hasRows()) {
      this.sql.exec(
        `DELETE FROM reply WHERE sent_at IS NOT NULL
         AND question NOT IN (SELECT question FROM reply WHERE kind = 'closed')`,
      );
      this.sql.exec("UPDATE reply SET turn = iif(kind = 'answer', 0, NULL)");
    }
    this.live.forgetTurns();
  }

  /** A person wrote: what waited for that may go. */
  personWrote(): void {
    this.#lastWroteAt = Date.now();
    if (!this.#hasRows()) return;
    const held = this.#lastWroteAt + LONGEST_PAUSE_MS;
    this.sql.exec("UPDATE reply SET not_before = 0, attempts = 0 WHERE not_before > ?", held);
  }

  /** Sets the sender going. Never awaited. */
  go(): void {
    this.#again = true;
    if (this.#sending) return;
    this.#sending = true;
    this.#later(this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#sendAll();
      }
    } catch (error) {
      // A row that cannot be read, storage that fails: the alarm comes back to it.
      logError("outbox.failed", error, { conversation: this.#context.name });
      await this.#context.alarm.wakeBy(Date.now() + PAUSE_MAX_MS);
    } finally {
      this.#sending = false;
    }
  }

  async #sendAll(): Promise<void> {
    const { alarm } = this.#context;
    // After an answer, "typing" would stand until it runs out. And what refuses it refuses the answer.
    await this.#typing;
    for (let row = this.#next(); row; row = this.#next()) {
      const notBefore = Math.max(row.not_before, this.#platform.quietUntil);
      if (notBefore > Date.now()) return await alarm.wakeBy(notBefore);
      await alarm.lease();
      await this.#send(row);
    }
    // Edits are left out then; the next one has all that is new.
    if (Date.now() >= this.#platform.quietUntil) await this.live.show();
  }

  #hasRows(): boolean {
    return this.#context.tables.has("reply");
  }

  /** In their order, but for those that wait until the person writes: an approved template may go before them. */
  #next(): ReplyRow | undefined {
    if (!this.#hasRows()) return undefined;
    return this.sql.first<ReplyRow>`SELECT * FROM reply WHERE sent_at IS NULL
      ORDER BY not_before > ${Date.now() + LONGEST_PAUSE_MS}, id LIMIT 1`;
  }

  async #send(row: ReplyRow): Promise<void> {
    const began = Date.now();
    try {
      // SAFETY: this class wrote it, or Transcript.finish from the address that the route made.
      const way = await this.#platform.way(JSON.parse(row.address) as Address);
      if (!way) throw new PlatformError({ kind: "never" }, "its connection is not there any more");
      if (!(await this.#sendHeard(row, way))) this.#gone(row);
    } catch (error) {
      await this.#failed(row, error);
      // Somebody wrote while the platform refused it for want of that.
      if (this.#lastWroteAt > began) this.personWrote();
    }
  }

  /** Sends a row; a notice goes by an approved template where the person has written nothing for too long. @returns whether the row stays */
  async #sendHeard(row: ReplyRow, way: Way): Promise<boolean> {
    const alert = isOfRule(row) && row.kind === "question" ? way.channel.alert?.(way.line) : undefined;
    try {
      if (row.kind !== "words" && this.#isUnheard(way.channel))
        throw new PlatformError({ kind: "unheard" }, "the person has written nothing for too long");
      return await this.#sendRow(row, way);
    } catch (error) {
      // The turns that tell when the person wrote may be gone, so the platform is believed too.
      const isUnheard = error instanceof PlatformError && error.refusal.kind === "unheard";
      if (!alert || !isUnheard) throw error;
      await alert(row.text);
      return false;
    }
  }

  /** @returns whether the row stays: its message has buttons */
  async #sendRow(row: ReplyRow, way: Way): Promise<boolean> {
    if (row.kind === "question") {
      await this.#sendQuestion(row, way);
      return true;
    }
    if (row.kind === "closed") await this.#sendClosed(row, way);
    else await this.#sendAnswer(row, way);
    return false;
  }

  /** Why nothing can be said unasked, in words; undefined: it can. */
  async refusal(address: Address): Promise<string | undefined> {
    const way = await this.#platform.way(address);
    if (!way) return "its connection is not there any more";
    return this.#isUnheard(way.channel) && !way.channel.alert?.(way.line)
      ? "this chat app delivers nothing before the person writes again"
      : undefined;
  }

  #isUnheard({ windowMs }: ChatPlatform): boolean {
    if (windowMs === undefined) return false;
    const { transcript } = this.#context;
    const asked = transcript.turns().findLast(({ origin }) => origin.event === undefined);
    const lastWroteAt = Math.max(this.#lastWroteAt, asked?.createdAt ?? Number.POSITIVE_INFINITY);
    return lastWroteAt + windowMs < Date.now();
  }

  async #failed(row: ReplyRow, error: unknown): Promise<void> {
    this.#platform.noteRefusal(error);
    const refusal = error instanceof PlatformError ? error.refusal : { kind: "again" as const, afterMs: 0 };
    const attempts = row.attempts + 1;
    // A notice is told elsewhere now; an answer waits for the person.
    const held = refusal.kind === "unheard" && attempts < TRIES_MAX && !this.#noticeOf(row);
    const dead = !held && (refusal.kind !== "again" || attempts >= TRIES_MAX);
    const event = dead ? "reply.dead" : "reply.postponed";
    logError(event, error, { conversation: this.#context.name, kind: row.kind, attempts });
    if (dead) {
      await this.#lost(row, error);
      this.#gone(row);
      return;
    }
    if (held) {
      // Its last try, unless the person writes.
      const values = [TRIES_MAX - 1, Date.now() + HOLD_MS, row.id];
      this.sql.exec("UPDATE reply SET attempts = ?, not_before = ? WHERE id = ?", ...values);
      return;
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** row.attempts, PAUSE_MAX_MS);
    const notBefore = Date.now() + Math.max(pause, refusal.kind === "again" ? refusal.afterMs : 0);
    this.sql.exec("UPDATE reply SET attempts = ?, not_before = ? WHERE id = ?", attempts, notBefore, row.id);
  }

  /** @returns the turn of what a rule says; undefined: this is something else */
  #noticeOf({ turn, kind, question }: ReplyRow): Turn | undefined {
    if (kind !== "question" || !isOfRule({ question })) return undefined;
    const told = this.#context.transcript.turnAt(turn ?? -1);
    return told?.origin.notice && told;
  }

  /** What a rule says is told elsewhere then. @throws when Home does not take it: the row stays, and is tried again */
  async #lost(row: ReplyRow, error: unknown): Promise<void> {
    const told = this.#noticeOf(row);
    if (!told?.origin.notice) return await this.#answerElsewhere(row);
    const { env, name } = this.#context;
    const { id, sources, createdAt: at } = told;
    const notice = { ...told.origin.notice, id, sources, text: row.text, at };
    const why = error instanceof Error ? error.message : "the chat app does not take it";
    await homeOf(env, name.split("/", 1)[0] ?? "").notices.noticeLost({ conversation: name, notice, why });
  }

  /** The place takes nothing any more: whoever asked there has the answer in their private chat. */
  async #answerElsewhere({ kind, turn, text, nonce, address }: ReplyRow): Promise<void> {
    const asked = kind === "answer" ? this.#context.transcript.turnAt(turn ?? -1)?.origin : undefined;
    const way = await this.#platform.way(JSON.parse(address) as Address);
    if (!asked || !way) return;
    const { principal, role, channel } = asked;
    const chat = way.channel.privateChat?.(way.line.connection, principal.slice(channel.length + 1));
    const { env, name } = this.#context;
    const place = `${name.split("/", 1)[0]}/${channel}/${chat?.conversation}`;
    if (!chat || place === name) return;
    await chatIn(env, place).receive({
      id: `elsewhere-${nonce}`,
      origin: { principal, role, channel, reply: chat.address },
      act: { do: "tell", text: `I could not post this where you asked me:\n\n${text}` },
    });
  }

  /** Its text in parts, then what the turn brought; a retry goes on where it was. */
  async #sendAnswer(row: ReplyRow, { channel, line }: Way): Promise<void> {
    const all = await this.#contentOf(row, row.text);
    const [first = plainContent(EMPTY_TEXT), ...more] = split(all, channel.format, channel.textMax);
    const parts = [first, ...more];
    const files = row.turn === null ? [] : filesOfTurn(this.#context.transcript, row.turn);
    for (let at = row.parts; at < parts.length + files.length; at += 1) {
      const nonce = `${row.nonce}.${at}`;
      const part = parts[at];
      if (part !== undefined) {
        const place =
          at === 0 ? await this.live.place(row.turn, line.address, channel.opening?.(line)) : undefined;
        const message = await sayText(channel, line, part, { edit: place, nonce });
        this.#noteSent(row, channel, message);
      } else await this.#sendMedia(files[at - parts.length] ?? "", { channel, line }, nonce);
      // The next part has all its tries.
      this.sql.exec("UPDATE reply SET parts = ?, attempts = 0 WHERE id = ?", at + 1, row.id);
      row.parts = at + 1;
      row.attempts = 0;
    }
  }

  /** A person may reply to it. */
  #noteSent({ turn }: ReplyRow, { quotesById }: ChatPlatform, message: string | undefined): void {
    const id = quotesById ? this.#context.transcript.turnAt(turn ?? -1)?.id : undefined;
    if (message === undefined || id === undefined) return;
    const sent = idOfSent(message);
    if (!findDelivery(this.#context, sent)) rememberDelivery(this.#context, sent, id);
  }

  async #sendMedia(id: string, { channel, line }: Way, nonce: string): Promise<void> {
    const content = this.#context.media.get(id);
    if (!content) return;
    try {
      await channel.attachment(line, attachmentOf(content, nonce), { nonce });
    } catch (error) {
      if (error instanceof PlatformError && error.refusal.kind === "again") throw error;
      logError("reply.attachment_refused", error, { conversation: this.#context.name });
      const words = `(A file of ${content.data.length} bytes could not be delivered here.)`;
      await channel.text(line, plainContent(words), { nonce });
    }
  }

  async #sendQuestion(row: ReplyRow, { channel, line }: Way): Promise<void> {
    const question = this.#context.transcript.question(row.question ?? "")?.question;
    if (!question && row.text === "") return this.#delete(row.id);
    const words = question
      ? questionText(question, consoleOf(this.#context.env), this.#phrasesOf(row))
      : row.text + this.#windowText(row, { channel, line });
    const buttons = question
      ? choicesOf(question, this.#phrasesOf(row))
      : buttonsOf(this.#context.transcript, row).map(ruleButton);
    // A person must see all of it to decide: text that does not fit above the buttons goes before them.
    const room = channel.close ? DECISION_ROOM : 0;
    const whole = await this.#contentOf(row, words);
    const fits = sizeOf(whole, channel.format) <= channel.questionMax - room;
    const before = fits ? [] : split(whole, channel.format, channel.textMax);
    for (const [at, part] of before.entries()) {
      if (at < row.parts) continue;
      await channel.text(line, part, { nonce: `${row.nonce}.${at}` });
      this.sql.exec("UPDATE reply SET parts = ?, attempts = 0 WHERE id = ?", at + 1, row.id);
    }
    if (!fits && buttons.length === 0) return this.#delete(row.id);
    const about = question ? `Your decision about the above, for **${question.agent}**:` : "About the above:";
    const asked = before.length > 0 ? about : words;
    const nonce = `${row.nonce}.${before.length}`;
    const message = await channel.question(line, await this.#contentOf(row, asked), buttons, { nonce });
    this.#noteSent(row, channel, message);
    this.sql.exec`UPDATE reply SET sent_at = ${Date.now()}, message = ${message ?? null}, text = ${asked}
      WHERE id = ${row.id}`;
  }

  /** Below a rule that was made in a chat app that does not deliver everything unasked. */
  #windowText({ turn }: ReplyRow, { channel, line }: Way): string {
    const isMade = this.#context.transcript.turnAt(turn ?? -1)?.origin.notice === undefined;
    if (channel.windowMs === undefined || !isMade || channel.alert?.(line)) return "";
    const hours = Math.round(channel.windowMs / 3_600_000);
    return `\n⚠ Here I can only write within ${hours} hours of your last message. For what comes later, turn on notifications in the console, or ask me in another chat app.`;
  }

  async #sendClosed(row: ReplyRow, { channel, line }: Way): Promise<void> {
    const [asked] = this.sql.all<ReplyRow>`SELECT * FROM reply WHERE question = ${row.question}
      AND kind = 'question'`;
    const words = row.text || this.#closedText(row, channel.showsIdsAsNames && line.connection.channel);
    // An earlier press closed it while this one waited: what came of this one is said all the same.
    if (!asked && row.text === "") return;
    if (asked && asked.message !== null && channel.close) {
      const content = await this.#contentOf(row, `${asked.text}\n\n${words}`);
      await channel.close(line, asked.message, content).catch((error: unknown) => {
        // Its message is gone, and its buttons with it.
        if (!(error instanceof PlatformError) || error.refusal.kind === "again") throw error;
      });
    } else await channel.text(line, await this.#contentOf(row, words), { nonce: `${row.nonce}.0` });
    if (asked) this.#delete(asked.id);
  }

  async #contentOf(row: ReplyRow, text: string): Promise<Content> {
    return isPlain(row) ? plainContent(text) : await readMarkdown(this.#context.env, text);
  }

  #phrasesOf({ turn }: ReplyRow): Phrases {
    return phrasesOf(this.#context.transcript.turnAt(turn ?? -1)?.origin.language);
  }

  #closedText({ question }: ReplyRow, mentions: string | undefined): string {
    return closedText(this.#context.transcript.question(question ?? "")?.question, mentions);
  }

  #gone(row: ReplyRow): void {
    this.#delete(row.id);
    if (row.kind === "answer") this.live.answered(row.turn);
  }

  #delete(id: number): void {
    this.sql.exec("DELETE FROM reply WHERE id = ?", id);
  }
}

/** Words of ours, with names and devices' texts in them: what a rule says, and what a command answers. */
function isPlain({ question }: Pick<ReplyRow, "question">): boolean {
  return question === PLAIN || isOfRule({ question });
}

function isOfRule({ question }: Pick<ReplyRow, "question">): boolean {
  return question?.startsWith(OF_RULE) ?? false;
}

/** Ids of the pictures and files that a turn brought, in their order. */
function filesOfTurn(transcript: Transcript, n: number): string[] {
  const late = transcript.turnAt(n)?.origin.files ?? [];
  const calls = transcript.entriesOf(n).flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
  return [...late, ...calls.flatMap(({ outcome }) => (outcome ? filesOf(outcome) : []))];
}

/** The buttons below what a rule says; none when its turn was forgotten. */
function buttonsOf(transcript: Transcript, { turn, question }: ReplyRow): readonly RuleButton[] {
  const origin = transcript.turnAt(turn ?? -1)?.origin;
  if (!origin || question === null || !isOfRule({ question })) return [];
  const { outcome } = transcript.call(question.slice(OF_RULE.length)) ?? {};
  return origin.notice?.buttons ?? undoButtons(outcome, origin.language);
}

/** The console's address, where the settings name it. */
function consoleOf(env: Env): string | undefined {
  const settings = settingsOrError(env);
  return settings instanceof SettingsError ? undefined : settings.publicUrl;
}

/** In place of a message that stands already, where that can still be edited: whatever is wrong with it, people hear. */
async function sayText(
  channel: ChatPlatform,
  line: Line,
  content: Content,
  { edit, ...sending }: TextSending,
): Promise<string | undefined> {
  try {
    return await channel.text(line, content, { ...sending, edit });
  } catch (error) {
    if (edit === undefined || !(error instanceof PlatformError) || error.refusal.kind === "again")
      throw error;
    return await channel.text(line, content, sending);
  }
}

function attachmentOf(content: MediaContent, nonce: string): Attachment {
  const [, subtype = "bin"] = content.mediaType.split("/");
  const ending =
    content.mediaType === "text/plain" ? "txt" : subtype.replace(/[^a-z0-9]/g, "").slice(0, 8) || "bin";
  return { ...content, name: `${nonce.replace(".", "-")}.${ending === "jpeg" ? "jpg" : ending}` };
}
