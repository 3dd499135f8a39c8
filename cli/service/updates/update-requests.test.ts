/** Root reads a request that the service wrote, which may contain anything, and writes the result. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { AGENT, type Service } from "../services.ts";
import { deleteRequest, noteOutcome, readOutcomes, readRequest } from "./update-requests.ts";

const ID = "00000000-0000-0000-0000-000000000001";

let service: Service;
let request: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-requests-"));
  request = join(folder, "update-request");
  service = { ...AGENT, places: { ...AGENT.places, state: folder, updates: join(folder, "updates.json") } };
});

test("an id, or no request", async () => {
  expect(await readRequest(service)).toEqual({ id: undefined, isThere: false });
  writeFileSync(request, ID);
  expect(await readRequest(service)).toEqual({ id: ID, isThere: true });
  await deleteRequest(service);
  expect(existsSync(request)).toBe(false);
});

test.each<[string, () => void]>([
  ["is a link", () => symlinkSync("/etc/passwd", request)],
  [
    "is a link to an id",
    () => {
      writeFileSync(`${request}.other`, ID);
      symlinkSync(`${request}.other`, request);
    },
  ],
  ["is a pipe", () => void spawnSync("mkfifo", [request])],
  ["is a device", () => symlinkSync("/dev/zero", request)],
  ["says more", () => writeFileSync(request, `${ID}\n`)],
  ["says something else", () => writeFileSync(request, '{"from":"https://evil.example/"}')],
  ["is empty", () => writeFileSync(request, "")],
])("a request that %s exists but has no id; it can be removed", async (_what, make) => {
  make();
  expect(await readRequest(service)).toEqual({ id: undefined, isThere: true });
  await deleteRequest(service);
  expect(await readRequest(service)).toEqual({ id: undefined, isThere: false });
  expect(existsSync("/etc/passwd")).toBe(true);
});

test("a folder is not opened, and stays", async () => {
  mkdirSync(join(request, "x"), { recursive: true });
  expect(await readRequest(service)).toEqual({ id: undefined, isThere: true });
  await deleteRequest(service);
  expect(existsSync(join(request, "x"))).toBe(true);
});

test("the results of a request and of the timer are stored separately; a damaged file counts as none", async () => {
  const done = { done: true, ok: true, text: "x" };
  await noteOutcome(service, ID, { ...done, to: "0.2.0-0123456789ab" });
  await noteOutcome(service, undefined, { ...done, ok: false });
  expect(await readOutcomes(service)).toEqual({
    asked: { id: ID, ...done, to: "0.2.0-0123456789ab", at: expect.any(String) },
    scheduled: { ...done, ok: false, at: expect.any(String) },
  });
  const text = readFileSync(service.places.updates, "utf8");
  writeFileSync(service.places.updates, text.slice(0, 20));
  expect(await readOutcomes(service)).toEqual({});
});
