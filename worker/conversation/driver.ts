/**
 * The one driver of a conversation: nothing else advances turns. Whatever happens writes a row and sets it going,
 * detached. It takes step after step until nothing is left to do, or nothing can be done before an answer or an
 * alarm; then it ends, and the object may sleep.
 */
import { nextOf } from "@edgecall/core/loop/next.ts";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { logError } from "../log.ts";
import type { Settings } from "../settings/settings.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { historyOf } from "./brought.ts";
import { type CallStep, HOME_RETRY_MS } from "./call-step.ts";
import type { ChatDesk } from "./chat/desk.ts";
import { handedOver, isClients } from "./client-tools.ts";
import type { ModelStep } from "./model-step.ts";
import type { Transcript } from "./store/transcript.ts";
import type { Turn } from "./store/transcript-rows.ts";
import { INTERNAL_ERROR, tryAgain } from "./turn-words.ts";

/** What the driver needs of its conversation. */
export type DriverHost = {
  transcript: Transcript;
  calls: CallStep;
  model: ModelStep;
  chat: ChatDesk;
  /** `home/channel/id`. */
  name(): string;
  settings(): Settings | SettingsError;
  /** Keeps the object up for work that nobody waits for. */
  later(work: Promise<unknown>): void;
  wakeBy(time: number): Promise<void>;
  /** Ends a turn that is to be cancelled. */
  end(turn: Turn): Promise<void>;
  finish(turn: Turn, status: "done" | "failed", answer: string, error?: string): void;
  /** No turn is left: what is kept for a while only may go. */
  idle(): Promise<void>;
};

export class Driver {
  readonly #host: DriverHost;
  /** One driver at a time: an object has one instance, so a flag in memory is enough. */
  #driving = false;
  /** Something was written while the driver was on its way out. */
  #again = false;

  constructor(host: DriverHost) {
    this.#host = host;
  }

  get driving(): boolean {
    return this.#driving;
  }

  /** Sets the driver going. Never awaited by callers: they return, and it goes on. */
  drive(): void {
    this.#again = true;
    if (this.#driving) return;
    this.#driving = true;
    this.#host.later(this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#advance();
      }
    } catch (error) {
      await this.#failed(error);
    } finally {
      this.#driving = false;
    }
  }

  /** Something that no step expects. Counted, so that it cannot come back for ever. */
  async #failed(error: unknown): Promise<void> {
    logError("turn.step_failed", error, { conversation: this.#host.name() });
    const { transcript } = this.#host;
    const turn = transcript.currentTurn();
    if (!turn) return;
    if (transcript.countAttempt(turn.n) > MAX_ATTEMPTS)
      this.#host.finish(
        turn,
        "failed",
        `${INTERNAL_ERROR} ${tryAgain(transcript.entriesOf(turn.n))}`,
        "internal",
      );
    await this.#host.wakeBy(Date.now() + HOME_RETRY_MS);
  }

  /** Takes steps until nothing is left to do, or nothing can be done before an answer or an alarm. */
  async #advance(): Promise<void> {
    for (;;) {
      const turn = this.#host.transcript.currentTurn();
      if (!turn) return await this.#host.idle();
      if (turn.error !== null) {
        await this.#host.end(turn);
        continue;
      }
      if (turn.notBefore > Date.now()) return await this.#host.wakeBy(turn.notBefore);
      if (await this.#host.chat.fetchPictures(turn)) continue;
      if ((await this.#step(turn)) === "parked") return;
    }
  }

  async #step(turn: Turn): Promise<"on" | "parked"> {
    const settings = this.#host.settings();
    if (settings instanceof SettingsError) {
      this.#host.finish(turn, "failed", `The gateway is not set up right. ${settings.message}`, "settings");
      return "on";
    }
    const history = historyOf(this.#host.transcript, turn, settings.history.keepFirst);
    const own = history.filter((entry) => entry.turn === turn.n);
    const next = nextOf(own, settings.limits);
    if (next.do === "done") {
      this.#host.finish(turn, "done", next.text);
      return "on";
    }
    if (next.do === "calls") {
      if (handedOver(turn, own).length === 0) return await this.#host.calls.take(turn, history, settings);
      // The caller runs the calls that are left; a later turn brings the results.
      const asked = own.findLast((entry) => entry.role === "assistant");
      const isMixed = asked?.calls.some((call) => !isClients(turn, call));
      this.#host.finish(turn, "done", isMixed ? "" : (asked?.text ?? ""));
      return "on";
    }
    await this.#host.model.take(turn, history, next, settings);
    return "on";
  }
}
