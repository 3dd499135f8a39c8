/** What the bridge of a house has on its disk about rules that act. */
import { existsSync, type FSWatcher, readFileSync, watch } from "node:fs";
import { join } from "node:path";

const LEDGER = "device-calls.jsonl";
const RULES = "automations.json";

/** A line of the command ledger. */
type LedgerLine = { t: "begun" | "sent" | "done" | "acked" | "void"; id: string };

export class BridgeFiles {
  readonly #dir: string;
  readonly #watchers = new Set<() => void>();
  #watch: FSWatcher | undefined;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The text of the rules' file; empty: there is none. */
  rules(): string {
    return this.#read(RULES);
  }

  /** The lines of the ledger whose id begins so. */
  ledger(prefix: string): LedgerLine[] {
    return this.#read(LEDGER)
      .split("\n")
      .flatMap((line): LedgerLine[] => {
        if (!line.includes(`"${prefix}`)) return [];
        try {
          return [JSON.parse(line) as LedgerLine];
        } catch {
          return [];
        }
      });
  }

  /** Resolves when this is so, which is looked at whenever a file is written. The signal ends the wait. */
  async until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !isSo()) await this.#written(signal);
  }

  stop(): void {
    this.#watch?.close();
  }

  #written(signal: AbortSignal): Promise<void> {
    this.#watch ??= watch(this.#dir, () => {
      for (const watcher of [...this.#watchers]) watcher();
    });
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#watchers.delete(done);
        resolve();
      };
      this.#watchers.add(done);
      // A write between the look and the watch.
      const timer = setTimeout(done, 50);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  #read(name: string): string {
    const file = join(this.#dir, name);
    try {
      return existsSync(file) ? readFileSync(file, "utf8") : "";
    } catch {
      return "";
    }
  }
}
