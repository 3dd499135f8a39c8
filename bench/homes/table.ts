/** The simulation of many homes in words. */
import type { HomesFigures } from "./measure.ts";

export function homesTable(figures: HomesFigures): string {
  const { homes, connectMs, connectCpuMs, connectedBytes, rssBytes, turns, turnsMs } = figures;
  return [
    `${homes} homes in one workerd: connected in ${s(connectMs)} s (${s(connectCpuMs)} s of processor time), ${mb(connectedBytes)} MB`,
    `${turns} turns in all of them: ${s(turnsMs)} s, p50 ${figures.p50.toFixed(0)} ms, p99 ${figures.p99.toFixed(0)} ms, ${mb(rssBytes)} MB`,
    `each turn, the first of a conversation or the second: ${figures.turnCpuMs.toFixed(1)} ms of processor time, ${figures.objectRequests.toFixed(2)} requests to objects` +
      ` (${figures.homeRequests.toFixed(2)} to Home), ${figures.rowsRead.toFixed(1)} rows read, ${figures.rowsWritten.toFixed(1)} written`,
  ].join("\n");
}

export const HOMES_NOTES = [
  "Homes: the bridges and their agents are played in the bench's process, over real sockets; the agents have no keys.",
];

const s = (ms: number) => (ms / 1_000).toFixed(1);
const mb = (bytes: number) => (bytes / 1_000_000).toFixed(0);
