import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type House, house } from "../testing/house.ts";
import { BETWEEN_MS } from "./progress.ts";

let home: House;
beforeEach(async () => {
  home = await house((_request, count) =>
    count % 2 === 1
      ? { calls: [{ name: "slow", args: { ms: 20, chunks: 2 } }] }
      : { text: "It took a while." },
  );
  await home.start();
});
afterEach(async () => await home.stop());

const progress = (id: string) => home.peer.events(id, "progress").map(({ payload }) => payload);
const textOf = (id: string) =>
  progress(id)
    .map(({ text }) => text ?? "")
    .join("");

test("output is sent as it is produced, while a person watches, at most once an interval", async () => {
  const began = performance.now();
  const id = await home.tool("slow", { ms: 700, chunks: 70 }, { watch: true });
  await home.result(id);
  // On a busy machine the tool takes longer, and more is sent.
  const tookMs = performance.now() - began;
  const messages = progress(id).length;
  expect(messages).toBeGreaterThanOrEqual(3);
  expect(messages).toBeLessThanOrEqual(2 + tookMs / BETWEEN_MS);
  const all = Array.from({ length: 70 }, (_, index) => `chunk ${index + 1}\n`).join("");
  expect(all.startsWith(textOf(id))).toBe(true);
  expect(progress(id)[0]).toEqual({ type: "progress", request_id: id, tool: "slow", text: "chunk 1\n" });
});

test("without a watching person no output is sent", async () => {
  const id = await home.tool("slow", { ms: 50, chunks: 10 });
  expect((await home.result(id)).status).toBe("success");
  expect(progress(id)).toEqual([]);
});

test("a person who joins later sees the output from then on", async () => {
  const id = await home.tool("slow", { ms: 3_000, chunks: 300 });
  await until(() => home.peer.events(id, "accepted").length);
  const watch = await home.send("watch", { request_id: id });
  await until(() => textOf(id).includes("chunk"));
  await home.send("cancel", { request_id: id });
  const report = await home.result(id);
  // The result of a stopped call contains its output.
  expect(report.error).toContain("chunk 1");
  expect(home.peer.reports(watch)).toEqual([]);
});

test("of a prompt: the running tool, its output, and the model's text", async () => {
  const id = await home.prompt("take a while", { watch: true });
  await home.result(id);
  const said = progress(id);
  expect(said[0]).toMatchObject({ tool: "slow" });
  const quiet = await home.prompt("take a while");
  await home.result(quiet);
  expect(progress(quiet)).toEqual([]);
});
