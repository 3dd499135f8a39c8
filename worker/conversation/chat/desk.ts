/** The half of a Conversation that speaks with a chat: what people do there comes in here, once each. */

import { KEPT } from "@edgecall/core/loop/messages.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { isPicture, MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import type { TurnQuestion } from "../../api/answers.ts";
import type { Accepted, Address, ChatCommand, Delivery, PictureRef } from "../../api/chat.ts";
import type { HomeApi } from "../../api/home-api.ts";
import { maySee } from "../../api/may-see.ts";
import type { NewMedia } from "../../api/media.ts";
import { mediaId, newMedia } from "../../api/media.ts";
import type { NewOrigin, NewTurn } from "../../api/turns.ts";
import { channelOf } from "../../channels/all.ts";
import { connectionOf } from "../../channels/connections.ts";
import { PlatformError } from "../../channels/platform.ts";
import type { Env } from "../../env.ts";
import { logError } from "../../log.ts";
import { transcribe } from "../../models/transcription.ts";
import { CHANNEL_NAMES } from "../../settings/channels.ts";
import { readTranscription } from "../../settings/transcription.ts";
import { filesOf, type MediaStore } from "../store/media.ts";
import type { Transcript } from "../store/transcript.ts";
import type { StoredCall, Turn } from "../store/transcript-rows.ts";
import { strangersWords } from "../strangers-words.ts";
import { agentsWords, HELP, statusWords } from "./commands.ts";
import { Outbox } from "./outbox.ts";
import { answersOf } from "./question-words.ts";

/** Deliveries that are remembered: platforms repeat for days, a chat has fewer messages in that time. */
const DELIVERIES_KEPT = 1_000;
/** Turns that wait; a person who goes on is told. */
const UNFINISHED_MAX = 20;
/** Of one turn, as its model is shown. */
const PICTURES_MAX = 8;
const DOWNLOAD_TRIES = 2;
/** Where a message stands already and waits to be the answer, it is one also when there is nothing to say. */
const DONE = "Done.";

export type DeskHost = {
  storage: DurableObjectStorage;
  env: Env;
  transcript: Transcript;
  media: MediaStore;
  name(): string;
  home(): HomeApi;
  lease(): Promise<void>;
  wakeBy(time: number): Promise<void>;
  later(work: Promise<unknown>): void;
  /** Stores a turn, and does not set it going. */
  begin(turn: NewTurn): Turn;
  drive(): void;
  end(turn: Turn): Promise<void>;
  /** Forgets the turns and what they brought. */
  renew(): void;
};

export class ChatDesk {
  readonly #host: DeskHost;
  readonly #sql: SqlStorage;
  readonly #outbox: Outbox;

  constructor(host: DeskHost) {
    this.#host = host;
    this.#sql = host.storage.sql;
    this.#outbox = new Outbox({
      storage: host.storage,
      env: host.env,
      name: host.name,
      lease: host.lease,
      wakeBy: host.wakeBy,
      later: host.later,
      progressOf: (turn) => this.#callsOf(turn).slice(-STATUS_LINES).map(callLine).join("\n"),
      broughtBy: (turn) => this.#broughtBy(turn),
      media: (id) => host.media.get(id),
      question: (id) => this.question(id)?.question,
      askedAt: () => host.transcript.turns().findLast(({ origin }) => origin.event === undefined)?.createdAt,
    });
  }

  /** Only a chat's conversation has anything here; the others pay for no look. */
  get #isChat(): boolean {
    return (CHANNEL_NAMES as readonly string[]).includes(this.#host.name().split("/")[1] ?? "");
  }

  /** What was left unsent by an object that was replaced. */
  wake(): void {
    if (this.#isChat) this.#outbox.go();
  }

  /** Takes what a person did, once. Durable when it returns. */
  async receive(delivery: Delivery): Promise<Accepted> {
    const known = this.#known(delivery.id);
    if (known) return known.turn === null ? {} : { turn: known.turn };
    const { act } = delivery;
    if (act.do !== "tell") this.#outbox.heard();
    if (act.do === "say") return this.#said(delivery, act);
    const words = act.do === "tell" ? act.text : await this.#commandWords(act.command, delivery);
    if (act.do === "command") await this.#endTurns(act.command);
    // Two of the same may have come while Home was asked.
    if (this.#known(delivery.id)) return {};
    // No await from here on: only what is done is remembered, or its repeat would not do it either.
    this.#remember(delivery.id, undefined);
    if (act.do === "command" && act.command.name === "new") this.#forget();
    return this.#say(delivery, words);
  }

  /** Over the chat; without an address for it, to who waits. */
  #say({ origin }: Delivery, words: string | undefined): Accepted {
    if (!origin.reply) return words === undefined ? {} : { words };
    if (words === undefined && !channelOf(origin.channel)?.opening) return {};
    this.#outbox.say(origin.reply, words ?? DONE);
    this.#outbox.go();
    return {};
  }

  #said(delivery: Delivery, act: Delivery["act"] & { do: "say" }): Accepted {
    const { origin } = delivery;
    const running = this.#host.transcript.turns().filter(({ status }) => status === "running");
    if (running.length >= UNFINISHED_MAX) {
      this.#remember(delivery.id, undefined);
      return this.#say(delivery, `${running.length} questions wait already. /stop ends them.`);
    }
    // No await from here on: the rows are written together or not at all.
    const turn = this.#host.begin({
      id: crypto.randomUUID(),
      idempotency: undefined,
      merge: act.merge,
      text: act.text.trim() === "" ? "(a picture)" : act.text,
      images: [],
      ...(act.sources && { sources: act.sources }),
      origin,
    });
    this.#remember(delivery.id, turn.id);
    for (const picture of act.pictures.slice(0, PICTURES_MAX))
      this.#sql.exec(
        "INSERT INTO inbound (turn, address, picture) VALUES (?, ?, ?)",
        turn.n,
        JSON.stringify(origin.reply ?? {}),
        JSON.stringify(picture),
      );
    this.#host.drive();
    if (origin.reply) this.#outbox.typing(origin.reply);
    return { turn: turn.id };
  }

  #known(id: string): { turn: string | null } | undefined {
    return this.#sql.exec<{ turn: string | null }>("SELECT turn FROM delivery WHERE id = ?", id).toArray()[0];
  }

  #remember(id: string, turn: string | undefined): void {
    const [row] = this.#sql
      .exec<{ n: number }>("INSERT INTO delivery (id, turn) VALUES (?, ?) RETURNING n", id, turn ?? null)
      .toArray();
    this.#sql.exec("DELETE FROM delivery WHERE n <= ?", (row?.n ?? 0) - DELIVERIES_KEPT);
  }

  // ── commands ────────────────────────────────────────────────────────────────────────────────────────

  async #commandWords(command: ChatCommand, { origin }: Delivery): Promise<string | undefined> {
    const running = this.#host.transcript.turns().filter(({ status }) => status === "running");
    switch (command.name) {
      case "stop":
        return running.length === 0 ? "Nothing is running." : undefined;
      case "new":
        return "A new conversation: what was said before is forgotten here.";
      case "status":
        return statusWords(running, await this.#host.home().status());
      case "agents":
        return agentsWords(await this.#host.home().agents(), origin.limits ?? {});
      case "answer":
        return await this.#answerWords(command.argument, origin);
      case "approve":
        return "Only an owner can let somebody in, in a private chat.";
      case "help":
        return HELP;
    }
  }

  async #endTurns({ name }: ChatCommand): Promise<void> {
    if (name !== "stop" && name !== "new") return;
    const running = this.#host.transcript.turns().filter(({ status }) => status === "running");
    // All at once: those that wait behind one that is being ended must not begin after a crash.
    for (const { n } of running) this.#host.transcript.cancelling(n);
    for (const turn of running) await this.#host.end(turn);
  }

  #forget(): void {
    this.#host.renew();
    this.#outbox.forgetTurns();
    this.#sql.exec("DELETE FROM inbound");
  }

  /** `/answer 2`, `/answer words`: for a question without buttons. An approval takes its buttons. */
  async #answerWords(argument: string, origin: NewOrigin): Promise<string | undefined> {
    const { transcript } = this.#host;
    const open = transcript
      .turns()
      .filter((turn) => turn.status === "running")
      .flatMap((turn) => transcript.questions.of(turn.n).map(({ question }) => ({ question, turn })))
      .filter(({ question }) => question.answer === undefined && !question.approval);
    const person = { name: origin.principal, role: origin.role, scopes: ["ask" as const] };
    const asked = open.find(({ turn }) =>
      maySee(person, { kind: "conversation", by: turn.origin.principal }),
    );
    if (!asked) return "Nobody asks you anything right now.";
    if (argument === "") return "Please write your answer after /answer.";
    const options = answersOf(asked.question);
    const answer = /^\d{1,2}$/.test(argument) ? (options[Number(argument) - 1] ?? argument) : argument;
    const answered = await this.#host.home().answer(asked.question.id, answer.slice(0, 4_000), person, true);
    return answered.ok ? undefined : answered.message;
  }

  /** A question of this conversation, and who began the turn that it belongs to. */
  question(id: string): { question: TurnQuestion; principal: string } | undefined {
    const { transcript } = this.#host;
    for (const turn of transcript.turns().toReversed()) {
      const found = transcript.questions.of(turn.n).find(({ question }) => question.id === id);
      if (found) return { question: found.question, principal: turn.origin.principal };
    }
    return undefined;
  }

  // ── what happens in a turn ──────────────────────────────────────────────────────────────────────────

  /** The turn has ended; its row stands. */
  ended(turn: Turn): void {
    if (turn.origin.reply) this.#outbox.go();
  }

  asked(turn: Turn, question: string): void {
    const address = replyOf(turn);
    if (!address) return;
    this.#outbox.ask(turn.n, address, question);
    this.#outbox.go();
  }

  closed(turn: Turn, question: string): void {
    if (!replyOf(turn)) return;
    this.#outbox.close(question);
    this.#outbox.go();
  }

  /** The model has asked for calls, or one of them was answered. */
  progress(turn: Turn): void {
    const address = replyOf(turn);
    if (!address || turn.status !== "running" || this.#callsOf(turn.n).length === 0) return;
    this.#outbox.typing(address);
    this.#outbox.live.list(turn.n, address);
  }

  /** Sends a call's text for the person as a message of its own; the model reads another one. */
  forUser(turn: Turn, { args, outcome }: StoredCall): void {
    const address = replyOf(turn);
    if (!address || outcome?.forUser === undefined || outcome.text.includes(outcome.forUser)) return;
    this.#outbox.say(address, deviceWords(String(args.agent_id ?? ""), outcome.forUser));
    this.#outbox.go();
  }

  /** The model's words as they come. @param at how many characters of its step came before; 0 makes those before void */
  delta({ n }: Turn, text: string, at: number): void {
    // As it is now: a turn that was ended is told of the model's last words still.
    const turn = this.#host.transcript.turnAt(n);
    const address = turn?.status === "running" ? replyOf(turn) : undefined;
    if (address) this.#outbox.live.say(n, address, text, at);
  }

  #callsOf(turn: number): StoredCall[] {
    return this.#host.transcript
      .entriesOf(turn)
      .flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
  }

  #broughtBy(turn: number): string[] {
    const late = this.#host.transcript.turnAt(turn)?.origin.files ?? [];
    return [...late, ...this.#callsOf(turn).flatMap(({ outcome }) => (outcome ? filesOf(outcome) : []))];
  }

  // ── pictures that people sent ───────────────────────────────────────────────────────────────────────

  /** Fetches what a turn's messages came with, before the model is asked. @returns whether there was something */
  async fetchPictures(turn: Turn): Promise<boolean> {
    if (!this.#isChat) return false;
    const rows = this.#sql
      .exec<{ n: number; address: string; picture: string }>(
        "SELECT * FROM inbound WHERE turn = ? ORDER BY n",
        turn.n,
      )
      .toArray();
    if (rows.length === 0) return false;
    await this.#host.lease();
    // SAFETY: `#said` wrote them.
    const pictures = rows.map(({ picture }) => JSON.parse(picture) as PictureRef);
    const fetched = await Promise.all(
      rows.map(({ address }, at) => this.#fetch(JSON.parse(address) as Address, pictures[at] as PictureRef)),
    );
    const kept = fetched.flatMap(({ media }) => media ?? []);
    // No await from here on.
    for (const media of kept) this.#host.media.add(media);
    const words = fetched.flatMap(({ words }) => words ?? []).join("\n\n");
    this.#host.transcript.bring(
      turn.n,
      kept.map(({ id }) => KEPT + id),
      words,
      pictures.some(({ voice, own }) => voice && !own) ? [STRANGER] : [],
    );
    for (const { n } of rows) this.#sql.exec("DELETE FROM inbound WHERE n = ?", n);
    return true;
  }

  /** @returns a picture to keep, or words for the model: what was said in a voice message, or what is missing */
  async #fetch(address: Address, picture: PictureRef): Promise<{ media?: NewMedia; words?: string }> {
    const missing = { words: picture.voice ? VOICE_MISSING : PICTURE_MISSING };
    const [home = "", name = ""] = this.#host.name().split("/");
    const channel = channelOf(name);
    for (let tries = 1; ; tries += 1) {
      try {
        const connection = await connectionOf(this.#host.env, home, name, address.connection);
        if (!channel || !connection) return missing;
        const { data, mediaType } = await channel.picture({ connection, address }, picture);
        if (picture.voice) {
          const words = await this.#heard({ data, mediaType });
          return { words: picture.own ? words : strangersWords("an audio file", words) };
        }
        // By its bytes: what a platform calls it is what a person called it.
        const media_type = typeOf(data);
        if (!media_type || !isPicture({ media_type }) || data.length > MEDIA_MAX_BYTES) return missing;
        return { media: await newMedia(mediaId(crypto.randomUUID(), this.#host.name()), media_type, data) };
      } catch (error) {
        const again = error instanceof PlatformError && error.refusal.kind === "again";
        if (again && tries < DOWNLOAD_TRIES) continue;
        logError("picture.failed", error, { conversation: this.#host.name() });
        return missing;
      }
    }
  }

  async #heard(audio: { data: Uint8Array; mediaType: string }): Promise<string> {
    const { env } = this.#host;
    const transcription = readTranscription(env);
    if (!transcription.ok || !transcription.value) return VOICE_MISSING;
    const text = await transcribe(transcription.value, env.AI, audio);
    return text === "" ? "[a voice message without words]" : text;
  }
}

/** For the model, which tells the person. */
const PICTURE_MISSING = "[a picture could not be fetched]";
const VOICE_MISSING = "[a voice message came that could not be understood; ask for it in writing]";

const STATUS_LINES = 10;

function callLine({ name, args, outcome }: StoredCall): string {
  const agent = typeof args.agent_id === "string" ? args.agent_id : name;
  const action = typeof args.action === "string" ? ` · ${args.action}` : "";
  const what = `${agent}${action}`.replace(/[^\p{L}\p{N} ·._-]/gu, "").slice(0, 80);
  if (!outcome) return `⏳ ${what}`;
  return `${outcome.status === "success" ? "✓" : "✗"} ${what} (${outcome.elapsedMs} ms)`;
}

/** In a chat, a longer text would push the answer out of sight. */
const FOR_USER_CHARS = 1_200;

/** A device's own words, as code: nothing in them is a link, a mention or a mark. */
function deviceWords(agent: string, text: string): string {
  const shown =
    text.length > FOR_USER_CHARS
      ? `${text.slice(0, FOR_USER_CHARS)}\n… ${text.length - FOR_USER_CHARS} more characters`
      : text;
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `From ${agent.replace(/[^\w.@-]/g, "")}:\n${fence}\n${shown}\n${fence}`;
}

function replyOf({ origin }: Turn): Address | undefined {
  // SAFETY: `receive` is the only one who sets it, from an Address.
  return origin.reply as Address | undefined;
}

/** A raster picture's media type by its first bytes. */
function typeOf(data: Uint8Array): string | undefined {
  const head = String.fromCharCode(...data.subarray(0, 12));
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}
