/** The catalog's file: the devices' ids and last states, for the next start. Written seldom, since an SD card bears a limited number of writes. */
import { readFile } from "node:fs/promises";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

/** A new device's id is in the agent's calls and in people's words, so it is kept soon. */
const IDS_AFTER_MS = 2_000;
/** A state that was not written is missing after a kill alone, and its device sends the next one. */
const STATES_AFTER_MS = 300_000;
/** 2,000 topics, with states of the usual size. With more, the states are not written. */
const MAX_BYTES = 8 * 1024 * 1024;

export class CatalogFile {
  readonly #path: string;
  readonly #catalog: Pick<DeviceCatalog, "dump" | "restore">;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  /** Monotonic ms. */
  #due = Number.POSITIVE_INFINITY;
  #work: Promise<void> = Promise.resolve();

  constructor(path: string, catalog: Pick<DeviceCatalog, "dump" | "restore">, log: Log) {
    this.#path = path;
    this.#catalog = catalog;
    this.#log = log;
  }

  /** Call it before the first config. */
  async load(): Promise<void> {
    try {
      const text = await readFile(this.#path, "utf8");
      if (!this.#catalog.restore(JSON.parse(text))) throw new Error("it is of another form");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      this.#log("warn", "devices.file_unreadable", { file: this.#path, error: messageOf(error) });
    }
  }

  /** @param what `ids`: a device came, went or was renamed; `states`: a message came */
  changed(what: "ids" | "states"): void {
    const due = performance.now() + (what === "ids" ? IDS_AFTER_MS : STATES_AFTER_MS);
    if (due >= this.#due) return;
    this.#due = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#write(), due - performance.now());
  }

  /** Writes what is not written yet. */
  async flush(): Promise<void> {
    if (this.#due < Number.POSITIVE_INFINITY) await this.#write();
    await this.#work;
  }

  /** A fault is logged, and the next change tries again. */
  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
    this.#work = this.#work.then(async () => {
      try {
        const dump = this.#catalog.dump();
        let text = JSON.stringify(dump);
        if (Buffer.byteLength(text) > MAX_BYTES) {
          // A device keeps its id whatever others report.
          this.#log("warn", "devices.states_unwritten", { file: this.#path, over: MAX_BYTES });
          text = JSON.stringify({ ...dump, states: [] });
        }
        await writeAtomic(this.#path, text);
      } catch (error) {
        this.#log("error", "devices.file_unwritten", { file: this.#path, error: messageOf(error) });
      }
    });
    return this.#work;
  }
}
