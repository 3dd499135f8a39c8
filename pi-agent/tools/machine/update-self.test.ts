/** The agent requests an update, and reports the result: in the process that asked, or in the next one. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type UpdateOutcomes, updateFiles } from "@edgecall/node/systemd/update.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import { type House, house, rules } from "../../testing/house.ts";
import { updateSelf } from "./update-self.ts";

let home: House;
let folder: string;
let request: string;
let env: { STATE_DIRECTORY: string; EDGECALL_UPDATES: string };
const processes: ChildProcess[] = [];
beforeEach(async () => {
  home = await house();
  folder = mkdtempSync(join(tmpdir(), "edgecall-update-"));
  env = { STATE_DIRECTORY: join(folder, "eye.state"), EDGECALL_UPDATES: join(folder, "updates.json") };
  request = join(env.STATE_DIRECTORY, "update-request");
});
afterEach(async () => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
  await home.stop();
});

const start = () => {
  const files = updateFiles(env) ?? expect.fail("no files");
  return home.start({ policy: rules({ update_self: "allow" }), folder, tools: [updateSelf(files)] });
};

/** Plays root's part. */
const says = (outcomes: UpdateOutcomes) => writeFileSync(env.EDGECALL_UPDATES, JSON.stringify(outcomes));
const at = "2026-11-22T08:00:00.000Z";
const underWay = (id: string) => says({ asked: { id, done: false, ok: false, text: "", at } });
const decided = (id: string, ok: boolean, text: string) => {
  says({ asked: { id, done: true, ok, text, at } });
  rmSync(request, { force: true });
};

/** Requests an update. @returns the job's token, which is in the request */
async function asked(): Promise<{ call: string; token: string }> {
  const call = await home.tool("update_self");
  const { status, job } = await home.result(call);
  expect(status).toBe("accepted");
  await until(() => existsSync(request), { what: "the request" });
  expect(readFileSync(request, "utf8")).toBe(job);
  return { call, token: String(job) };
}

test("its request is handled, and only its own result is reported", async () => {
  says({ asked: { id: crypto.randomUUID(), done: true, ok: true, text: "somebody else's", at } });
  await start();
  const { token } = await asked();
  const second = await home.result(await home.tool("update_self"));
  expect(second.error).toContain("under way already");
  underWay(token);
  decided(token, true, "0.2.0 is in use already");
  expect(await home.result(token)).toMatchObject({ status: "success", result: "0.2.0 is in use already" });
  expect(existsSync(request)).toBe(false);
});

test("the process that is stopped for the new version reports nothing; the next one reports under the same token", async () => {
  const first = await start();
  const { call, token } = await asked();
  underWay(token);
  await first.stop();
  expect(home.peer.reports(token)).toEqual([]);
  // On trial, so it is not decided yet.
  await start();
  await home.result(await home.send("ping"));
  expect(home.peer.reports(token)).toEqual([]);
  decided(token, true, "0.2.0 is online; before it 0.1.0");
  expect(await home.result(token)).toMatchObject({
    status: "success",
    tool: "update_self",
    result: "0.2.0 is online; before it 0.1.0",
    job_of: call,
  });
});

test("a version that did not come online is a failure, in words", async () => {
  const first = await start();
  const { token } = await asked();
  await first.stop();
  decided(token, false, "0.2.0 did not come online; back to 0.1.0");
  await start();
  expect(await home.result(token)).toMatchObject({
    status: "error",
    error_type: "execution_failed",
    error: expect.stringContaining("0.2.0 did not come online; back to 0.1.0"),
  });
});

test("a request that a power cut removed is reported as such, and not waited for", async () => {
  const first = await start();
  const { token } = await asked();
  await first.stop();
  rmSync(request);
  await start();
  expect((await home.result(token)).error).toContain("the request was lost");
});

test("when it is killed during the update, the next process reports too", async () => {
  const config = join(folder, "agent.toml");
  writeFileSync(
    config,
    `agent_id = "eye"\n[mqtt]\nurl = "mqtt://127.0.0.1:${home.port}"\n[policy]\nupdate_self = "allow"\n`,
  );
  const main = join(import.meta.dirname, "../../main.ts");
  const own = join(import.meta.dirname, "../../../node_modules/.bin/node");
  const adverts = () => home.peer.received.filter(({ kind }) => kind === "tools").length;
  const run = async () => {
    const before = adverts();
    const child = spawn(existsSync(own) ? own : process.execPath, [main, "--config", config], {
      stdio: "ignore",
      env: { PATH: process.env.PATH, ...env },
    });
    processes.push(child);
    await until(() => adverts() > before, { within: 15_000, what: "the agent is online" });
    return child;
  };
  const first = await run();
  const { token } = await asked();
  first.kill("SIGKILL");
  decided(token, true, "0.2.0 is online; before it 0.1.0");
  await run();
  expect(await home.result(token)).toMatchObject({
    status: "success",
    result: expect.stringContaining("0.2.0"),
  });
});

test("offered only if a program reads the requests", () => {
  expect(updateFiles({ STATE_DIRECTORY: folder })).toBeUndefined();
  expect(updateFiles({ EDGECALL_UPDATES: folder })).toBeUndefined();
});
