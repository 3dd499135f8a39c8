import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type House, house } from "../testing/house.ts";

let home: House;
afterEach(async () => await home.stop());

/** A tool that reports its begin and end, and ends when the test says so. */
function pin(more: Partial<Tool> = {}) {
  const seen: string[] = [];
  const held = new Map<string, () => void>();
  const tool = defineTool({
    name: "pin",
    description: "Switch a pin.",
    input: z.strictObject({ pin: z.string(), as: z.string() }),
    effect: "read",
    idempotent: true,
    lock: ({ pin }) => pin,
    timeoutMs: 10_000,
    maxTimeoutMs: 10_000,
    async execute({ as }, { signal }) {
      seen.push(`+${as}`);
      await new Promise<void>((resolve) => {
        held.set(as, resolve);
        signal.addEventListener("abort", () => resolve());
      });
      seen.push(`-${as}`);
      return textResult(as);
    },
  });
  return { tool: { ...tool, ...more }, seen, release: (as: string) => held.get(as)?.() };
}

test("calls with one lock run one after another, from a prompt or from a command", async () => {
  home = await house((_request, count) =>
    count === 1 ? { calls: [{ name: "pin", args: { pin: "17", as: "inner" } }] } : { text: "ok" },
  );
  const { tool, seen, release } = pin();
  await home.start({ tools: [tool] });
  const prompt = await home.prompt("switch");
  await until(() => seen.length === 1);
  const same = await home.tool("pin", { pin: "17", as: "same" });
  const other = await home.tool("pin", { pin: "4", as: "other" });
  await until(() => seen.includes("+other"));
  release("other");
  await home.result(other);
  expect(seen).toEqual(["+inner", "+other", "-other"]);
  release("inner");
  await home.result(prompt);
  await until(() => seen.includes("+same"));
  release("same");
  await home.result(same);
  expect(seen.slice(3)).toEqual(["-inner", "+same", "-same"]);
});

test("cancel ends running and waiting calls; a waiting one was not begun", async () => {
  home = await house();
  const { tool, seen } = pin();
  await home.start({ tools: [tool] });
  const runs = await home.tool("pin", { pin: "17", as: "runs" });
  await until(() => seen.length === 1);
  const waits = await home.tool("pin", { pin: "17", as: "waits" });
  await until(() => home.peer.events(waits, "accepted").length);
  expect((await home.result(await home.send("cancel", { request_id: waits }))).status).toBe("cancelled");
  expect((await home.result(waits)).status).toBe("error");
  expect((await home.result(await home.send("cancel", { request_id: runs }))).status).toBe("cancelled");
  expect((await home.result(runs)).status).toBe("error");
  expect(seen).toEqual(["+runs", "-runs"]);
});

test("a call that runs alone waits for the others and blocks the rest", async () => {
  home = await house();
  const one = pin();
  const alone = pin({ name: "reboot", runs: "alone" });
  await home.start({ tools: [one.tool, alone.tool] });
  const first = await home.tool("pin", { pin: "17", as: "first" });
  await until(() => one.seen.length === 1);
  const second = await home.tool("reboot", { pin: "x", as: "alone" });
  await until(() => home.peer.events(second, "accepted").length);
  const third = await home.tool("pin", { pin: "4", as: "third" });
  await until(() => home.peer.events(third, "accepted").length);
  expect(alone.seen).toEqual([]);
  one.release("first");
  await until(() => alone.seen.length === 1);
  expect(one.seen).toEqual(["+first", "-first"]);
  alone.release("alone");
  await until(() => one.seen.length === 3);
  one.release("third");
  for (const id of [first, second, third]) expect((await home.result(id)).status).toBe("success");
});
