/** The metrics that Prometheus' own libraries report for any process, under their names, and the program's version. */
import { VERSION } from "../protocol/names.ts";
import type { MetricFamily } from "./exposition.ts";

export type ProcessFigures = {
  residentBytes: number;
  cpuSeconds: number;
  /** Epoch seconds. */
  startedAt: number;
};

export function processFamilies(
  program: string,
  { residentBytes, cpuSeconds, startedAt }: ProcessFigures,
): MetricFamily[] {
  return [
    {
      name: "edgecall_build_info",
      help: "The program and its version.",
      type: "gauge",
      samples: [{ labels: { program, version: VERSION }, value: 1 }],
    },
    {
      name: "process_resident_memory_bytes",
      help: "Resident memory.",
      type: "gauge",
      samples: [{ value: residentBytes }],
    },
    {
      name: "process_cpu_seconds_total",
      help: "CPU time of user and system.",
      type: "counter",
      samples: [{ value: cpuSeconds }],
    },
    {
      name: "process_start_time_seconds",
      help: "When the process started, since 1970.",
      type: "gauge",
      samples: [{ value: startedAt }],
    },
  ];
}
