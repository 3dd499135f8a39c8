import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { until } from "../../test/wait.ts";
import { CommandLedger } from "../calls/ledger.ts";
import { MemoryStorage } from "../testing/memory-storage.ts";
import { Redelivery } from "./redelivery.ts";

const open: Redelivery[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.stop();
});

async function harness(online = true) {
  const ledger = await CommandLedger.open({ storage: new MemoryStorage(), log: () => {} });
  const sent: Array<{ report: string; at: number }> = [];
  const line = { online };
  const publish = async (report: string) => {
    if (line.online) sent.push({ report, at: performance.now() });
    return line.online;
  };
  const redelivery = new Redelivery(ledger, publish, () => {}, { firstMs: 20 });
  open.push(redelivery);
  const result = async (id: string, acks = true) => {
    await ledger.begin({ id, command: "tool", idempotent: true, acks });
    await ledger.done(id, `report ${id}`);
  };
  return { ledger, redelivery, sent, line, result };
}

test("sends again at growing intervals until it is acknowledged", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { ledger, redelivery, sent, result } = await harness();
  await result("a");
  const begin = performance.now();
  redelivery.add("a");
  await vi.advanceTimersByTimeAsync(200);
  expect(sent.map(({ at }) => at - begin)).toEqual([20, 60, 140]);
  await ledger.acked("a");
  redelivery.acked("a");
  await result("b");
  redelivery.add("b");
  await vi.advanceTimersByTimeAsync(200);
  expect(sent.some(({ report }) => report === "report b")).toBe(true);
  expect(sent.filter(({ report }) => report === "report a")).toHaveLength(3);
});

test("on a connect all unacknowledged messages are sent at once, and no others", async () => {
  const { redelivery, sent, line, result } = await harness(false);
  for (const id of ["a", "b"]) await result(id);
  await result("nobody acknowledges", false);
  redelivery.connected();
  line.online = true;
  redelivery.connected();
  await until(() => sent.length >= 2);
  expect(new Set(sent.map(({ report }) => report))).toEqual(new Set(["report a", "report b"]));
});

test("after a connect the pauses begin anew: the report may have been lost by a broker without its bridge", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { redelivery, sent, result } = await harness();
  await result("a");
  redelivery.add("a");
  await vi.advanceTimersByTimeAsync(310);
  expect(sent).toHaveLength(4);
  const connectedAt = performance.now();
  redelivery.connected();
  await vi.advanceTimersByTimeAsync(100);
  expect(sent.slice(4).map(({ at }) => at - connectedAt)).toEqual([0, 20, 60]);
});
