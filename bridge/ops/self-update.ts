/**
 * The bridge updates itself when Home says so: as a service it leaves a request for root's unit, and what came of it is
 * told by the process that is there then: this one, the new version or the one before.
 */
import { type BridgeFrame, UPDATE_WORDS_MAX } from "@edgecall/core/protocol/frames.ts";
import type { Log } from "@edgecall/node/log.ts";
import { outcomesIn, type UpdateFiles, updated } from "@edgecall/node/systemd/update.ts";

export class SelfUpdate {
  readonly #files: UpdateFiles | undefined;
  readonly #say: (frame: BridgeFrame) => void;
  readonly #log: Log;
  readonly #stopped = new AbortController();
  /** The request that is waited for. */
  #waiting: string | undefined;

  constructor(files: UpdateFiles | undefined, say: (frame: BridgeFrame) => void, log: Log) {
    this.#files = files;
    this.#say = say;
    this.#log = log;
  }

  /** For the hello. */
  get features(): string[] {
    return this.#files ? ["update"] : [];
  }

  /** Home says so. */
  asked(id: string): void {
    if (!this.#files) this.#tell(id, { ok: false, text: "this bridge is no service" });
    else if (this.#waiting === undefined) void this.#wait(this.#files, id, false);
    else if (this.#waiting !== id) this.#tell(id, { ok: false, text: "an update is under way already" });
  }

  /** Home has forgotten what it was told, and never heard what is not told yet. An older Home has asked for nothing. */
  async welcomed(): Promise<void> {
    if (!this.#files || this.#waiting !== undefined) return;
    try {
      const id = (await this.#files.request()) ?? (await outcomesIn(this.#files)).asked?.id;
      if (id !== undefined) await this.#wait(this.#files, id, true);
    } catch (error) {
      this.#log("warn", "update_unreadable", { error: String(error) });
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #wait(files: UpdateFiles, id: string, again: boolean): Promise<void> {
    if (this.#waiting !== undefined) return;
    this.#waiting = id;
    this.#log("info", "update_waited_for", { id });
    try {
      this.#tell(id, await updated(id, files, { signal: this.#stopped.signal, again }));
    } catch (error) {
      // Stopped: the next process tells.
      if (this.#stopped.signal.aborted) return;
      this.#tell(id, { ok: false, text: `this machine's files cannot be used: ${String(error)}` });
    } finally {
      this.#waiting = undefined;
    }
  }

  #tell(id: string, { ok, text }: { ok: boolean; text: string }): void {
    this.#log("info", "update_told", { id, ok, text });
    this.#say({ t: "updated", id, ok, text: text.slice(0, UPDATE_WORDS_MAX) });
  }
}
