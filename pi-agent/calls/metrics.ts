/** The figures of a heartbeat, in EvoClaw's shape. */

export type AgentMetrics = {
  /** Seconds since the start of this process. */
  uptime_sec: number;
  actions_total: number;
  actions_success: number;
  actions_failed: number;
  /** Resident memory. */
  memory_bytes: number;
  custom: Record<string, number>;
};

export class Metrics {
  #success = 0;
  #failed = 0;

  count(outcome: "success" | "failed"): void {
    if (outcome === "success") this.#success += 1;
    else this.#failed += 1;
  }

  reset(): void {
    this.#success = 0;
    this.#failed = 0;
  }

  read(): AgentMetrics {
    return {
      uptime_sec: Math.floor(process.uptime()),
      actions_total: this.#success + this.#failed,
      actions_success: this.#success,
      actions_failed: this.#failed,
      memory_bytes: process.memoryUsage.rss(),
      custom: {},
    };
  }
}
