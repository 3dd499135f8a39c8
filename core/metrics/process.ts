/** The metrics that Prometheus' own libraries report for any process, under their names, and the program's version. */
import { VERSION } from "../protocol/names.ts";
import { counter, gauge, type MetricFamily } from "./exposition.ts";

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
    gauge("edgecall_build_info", "The program and its version.", [
      { labels: { program, version: VERSION }, value: 1 },
    ]),
    gauge("process_resident_memory_bytes", "Resident memory.", [{ value: residentBytes }]),
    counter("process_cpu_seconds_total", "CPU time of user and system.", [{ value: cpuSeconds }]),
    gauge("process_start_time_seconds", "When the process started, since 1970.", [{ value: startedAt }]),
  ];
}
