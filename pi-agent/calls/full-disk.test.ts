/** A real disk that is really full: a tmpfs of 64 KiB, which only root can mount. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type House, house, rules } from "../testing/house.ts";

const disk = mkdtempSync(join(tmpdir(), "edgecall-disk-"));

let home: House;
beforeEach(async () => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "edgecall-test", disk], { stdio: "pipe" });
  home = await house();
});
afterEach(async () => {
  await home.stop();
  // A lazy unmount, because a program that another test started just now may still have a copy of our mounts.
  execFileSync("umount", ["--lazy", disk]);
});

test("reads are served, acts are refused with a text, and with room again everything works", {
  tags: ["needs/mounts"],
}, async () => {
  const allowed = rules({ append: "allow", job: "allow" });
  const agent = await home.start({ stateDir: join(disk, "state"), policy: allowed });
  const kept = await home.tool("append");
  expect((await home.result(kept)).status).toBe("success");

  const filler = join(disk, "filler");
  fill(filler);
  // The ledger's last page still has room; these reads fill it, until a line is cut.
  const unwritable = () => home.lines.some(({ event }) => event === "ledger.unwritable");
  for (let call = 0; call < 30 && !unwritable(); call += 1) {
    expect((await home.result(await home.tool("memory"))).status).toBe("success");
  }
  const refused = {
    status: "error",
    error_type: "execution_failed",
    error: expect.stringMatching(/^Error: Nothing was run: this device cannot write its record .*ENOSPC/),
  };
  const notRun = await home.tool("append");
  expect(await home.result(notRun)).toMatchObject(refused);
  expect(await home.result(await home.tool("job", { ms: 1 }))).toMatchObject(refused);
  expect((await home.result(await home.tool("memory"))).status).toBe("success");
  expect(readFileSync(home.marks, "utf8")).toBe(`${kept}\n`);

  rmSync(filler);
  // A late copy of the call that was reported as not run.
  const append = { command: "tool", payload: { tool: "append", parameters: {} } };
  await home.peer.command("eye", { ...append, request_id: notRun });
  const after = await home.tool("append");
  expect((await home.result(after)).status).toBe("success");
  // The ledger that was written around the full disk still knows what ran.
  await agent.stop();
  await home.start({ stateDir: join(disk, "state"), policy: allowed });
  for (const id of [kept, after]) {
    await home.peer.command("eye", { ...append, request_id: id });
  }
  await home.result(await home.send("ping"));
  expect(readFileSync(home.marks, "utf8")).toBe(`${kept}\n${after}\n`);
});

test("O4: a full disk and a read-only card are in the agent's advert, with their reason, and go from it with the fault", {
  tags: ["needs/mounts"],
}, async () => {
  const filler = join(disk, "filler");
  const told = () =>
    home.peer.received.findLast(({ kind }) => kind === "capabilities")?.payload.conditions as unknown;
  await home.start({ stateDir: join(disk, "state"), policy: rules({ append: "allow" }) });
  expect(told()).toBeUndefined();
  fill(filler);
  const unwritable = () => home.lines.some(({ event }) => event === "ledger.unwritable");
  for (let call = 0; call < 30 && !unwritable(); call += 1) await home.result(await home.tool("memory"));
  const state = join(disk, "state");
  await until(() => told(), { what: "the advert with the condition" });
  expect(told()).toEqual([{ code: "disk_full", params: { path: state, error: "ENOSPC" } }]);
  rmSync(filler);
  await home.result(await home.tool("append"));
  await until(() => told() === undefined, { what: "the advert without it" });

  const card = mkdtempSync(join(tmpdir(), "edgecall-card-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "ro,size=64k", "edgecall-test", card], { stdio: "pipe" });
  onTestFinished(() => void execFileSync("umount", ["--lazy", card]));
  await home.start({ stateDir: card, agentId: "card" });
  const advert = home.peer.received.findLast(({ topic }) => topic.endsWith("card/capabilities"));
  expect(advert?.payload.conditions).toEqual([
    { code: "disk_read_only", params: { path: card, error: "EROFS" } },
  ]);
});

function fill(path: string): void {
  try {
    // In small pieces, so that the last page is filled too.
    for (let size = 1_024; ; size += 1_024) writeFileSync(path, Buffer.alloc(size));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  }
}
