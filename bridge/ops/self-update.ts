/**
 * Updates the bridge when Home asks for it. As a service the bridge leaves a request for root's unit. The result is
 * reported by whichever process runs then: this one, the new version or the one before.
 */

import { type BridgeFrame, UPDATE_WORDS_MAX } from "@edgecall/core/protocol/frames.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Log } from "@edgecall/node/log.ts";
import { outcomesIn, type UpdateFiles, updated } from "@edgecall/node/systemd/update.ts";

export class SelfUpdate {
  readonly #files: UpdateFiles | undefined;
  readonly #send: (frame: BridgeFrame) => void;
  readonly #log: Log;
  readonly #stopped = new AbortController();
  /** The id of the request that is under way. */
  #waiting: string | undefined;

  constructor(files: UpdateFiles | undefined, send: (frame: BridgeFrame) => void, log: Log) {
    this.#files = files;
    this.#send = send;
    this.#log = log;
  }

  /** Features for the hello. */
  get features(): string[] {
    return this.#files ? ["update"] : [];
  }

  /** Home asks for an update. */
  asked(id: string): void {
    if (!this.#files) this.#report(id, { ok: false, text: "this bridge is no service" });
    else if (this.#waiting === undefined) void this.#wait(this.#files, id, false);
    else if (this.#waiting !== id) this.#report(id, { ok: false, text: "an update is under way already" });
  }

  /** Home forgets results at a reconnect, so a pending or finished request is reported again. */
  async welcomed(): Promise<void> {
    if (!this.#files || this.#waiting !== undefined) return;
    try {
      const id = (await this.#files.request()) ?? (await outcomesIn(this.#files)).asked?.id;
      if (id !== undefined) await this.#wait(this.#files, id, true);
    } catch (error) {
      this.#log("warn", "update.unreadable", { error: String(error) });
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #wait(files: UpdateFiles, id: string, again: boolean): Promise<void> {
    if (this.#waiting !== undefined) return;
    this.#waiting = id;
    this.#log("info", "update.waiting", { id });
    try {
      this.#report(id, await updated(id, files, { signal: this.#stopped.signal, again }));
    } catch (error) {
      // This process stops, so the next one reports the result.
      if (this.#stopped.signal.aborted) return;
      this.#report(id, { ok: false, text: `this machine's files cannot be used: ${String(error)}` });
    } finally {
      this.#waiting = undefined;
    }
  }

  #report(id: string, { ok, text }: { ok: boolean; text: string }): void {
    this.#log("info", "update.reported", { id, ok, text });
    this.#send({ t: "updated", id, ok, text: cutText(text, UPDATE_WORDS_MAX) });
  }
}
