import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startKeptBroker } from "./broker.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "edgecall-broker-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Starts it and ends it again. */
async function once() {
  const said: string[] = [];
  const { url, stop } = await startKeptBroker(dir, (line) => said.push(line));
  await stop();
  return { url, said };
}

test("the port is kept; if another program has it, that is reported, and the new port is kept", async () => {
  const first = await once();
  expect(first.said).toEqual([]);
  expect(await once()).toEqual(first);

  const port = Number(new URL(first.url).port);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
  const moved = await once();
  await new Promise((resolve) => other.close(resolve));
  expect(moved.url).not.toBe(first.url);
  expect(moved.said).toEqual([expect.stringMatching(`^port ${port} is taken; .* ${moved.url} now$`)]);
  expect(await once()).toEqual({ url: moved.url, said: [] });
});

test.each(["", "many", "-1", "99999", "1.5"])("a port file with '%s' counts as missing", async (text) => {
  writeFileSync(join(dir, "broker-port"), text);
  expect((await once()).said).toEqual([]);
});
