/**
 * A write where git would run it: the agent's policy judges it as a program, and nothing is written if the place
 * changed meanwhile.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { local } from "../../env/local.ts";
import { type House, house, rules } from "../../testing/house.ts";
import { append } from "../files/append.ts";
import { applyPatch } from "../files/apply-patch.ts";
import { edit } from "../files/edit.ts";
import { write } from "../files/write.ts";

let home: House;
let ws: string;
beforeEach(async () => {
  ws = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-git-writes-")));
  mkdirSync(join(ws, ".git/hooks"), { recursive: true });
  writeFileSync(join(ws, ".git/config"), "[core]\n");
  writeFileSync(join(ws, "harmless.txt"), "harmless\n");
  writeFileSync(join(ws, "secret.txt"), "secret\n");
  home = await house();
});
afterEach(async () => await home.stop());

async function start(policy: Record<string, "allow" | "ask" | "deny">, more = {}) {
  const here = local({ cwd: ws });
  const tools = [write(here), append(here), edit(here), applyPatch(here)];
  await home.start({ tools, policy: rules(policy), ...more });
}

const PATCH =
  "*** Begin Patch\n*** Add File: ok.txt\n+x\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch";
const MOVE =
  "*** Begin Patch\n*** Update File: harmless.txt\n*** Move to: .git/hooks/pre-commit\n*** End Patch";
const CALLS: Array<[string, string, Record<string, unknown>]> = [
  ["a hook", "write", { path: ".git/hooks/pre-commit", content: "x" }],
  ["the settings", "append", { path: ".git/config", content: "x" }],
  ["a part of the settings", "edit", { path: ".git/config", old_string: "core", new_string: "x" }],
  ["a patch that has it among others", "apply_patch", { patch: PATCH }],
  ["a patch that moves a file there", "apply_patch", { patch: MOVE }],
  ["through a link", "write", { path: "link/config", content: "x" }],
  ["in capitals", "write", { path: ".GIT/config", content: "x" }],
];

describe("S4 a write below .git", () => {
  test.each(CALLS)("S4 is refused if programs are denied and files allowed: %s", async (_, tool, args) => {
    symlinkSync(".git", join(ws, "link"));
    await start({ shell: "deny", file_write: "allow", [tool]: "allow" });
    expect(await home.result(await home.tool(tool, args))).toMatchObject({
      status: "error",
      error_type: "permission_denied",
      error: expect.stringContaining("requires: shell"),
    });
    expect(readFileSync(join(ws, ".git/config"), "utf8")).toBe("[core]\n");
    expect(existsSync(join(ws, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(ws, "ok.txt"))).toBe(false);
  });

  test.each(CALLS)("S4 asks if only files are allowed, and says why: %s", async (_, tool, args) => {
    symlinkSync(".git", join(ws, "link"));
    await start({ file_write: "allow", [tool]: "allow" });
    const id = await home.tool(tool, args);
    const { question_id, approval } = await home.question(id);
    expect(approval?.reason).toContain("belongs to git, which runs what is written there");
    await home.answer(question_id, "approve", { hash: approval?.hash as string });
    expect(await home.result(id)).toMatchObject({ status: "success" });
  });

  test("S4 is refused if the agent lacks the permission shell", async () => {
    await start({ file_write: "allow", shell: "allow" }, { permissions: ["file_write"] });
    const report = await home.result(await home.tool("write", { path: ".git/config", content: "x" }));
    expect(report).toMatchObject({ error_type: "permission_denied" });
    expect(await home.result(await home.tool("write", { path: "ok.txt", content: "x" }))).toMatchObject({
      status: "success",
    });
  });

  test("S4 runs if programs are allowed too", async () => {
    await start({ file_write: "allow", shell: "allow" });
    const report = await home.result(await home.tool("write", { path: ".git/config", content: "x" }));
    expect(report).toMatchObject({ status: "success" });
  });
});

describe("S1 S4 a link that changed before the approval", () => {
  test.each<[string, string, string]>([
    ["another file", "harmless.txt", "secret.txt"],
    ["a folder of git's", "harmless.txt", ".git/config"],
    ["a file, where there was nothing to judge", "/etc/hostname", "secret.txt"],
  ])("S1 is not followed to %s", async (_, first, then) => {
    symlinkSync(first, join(ws, "note"));
    await start({ file_write: "ask" });
    const id = await home.tool("write", { path: "note", content: "EVIL" });
    const { question_id, approval } = await home.question(id);
    if (first === "harmless.txt")
      expect(approval?.reason).toContain(`'note' leads to '${join(ws, "harmless.txt")}'`);
    rmSync(join(ws, "note"));
    symlinkSync(then, join(ws, "note"));
    await home.answer(question_id, "approve", { hash: approval?.hash as string });
    expect(await home.result(id)).toMatchObject({ error_type: "permission_denied" });
    for (const name of ["harmless.txt", "secret.txt", ".git/config"])
      expect(readFileSync(join(ws, name), "utf8")).not.toContain("EVIL");
  });

  const patchOf = (lines: string) => `*** Begin Patch\n${lines}\n*** End Patch`;
  test.each<[string, string]>([
    ["a delete", "*** Delete File: sub/x"],
    ["a move", "*** Update File: sub/x\n*** Move to: sub/new/y\n@@\n-of sub\n+EVIL"],
    ["a new file", "*** Add File: sub/new/y\n+EVIL"],
  ])("S1 %s of a patch does not go into another folder", async (_, lines) => {
    for (const name of ["sub", "other"]) {
      mkdirSync(join(ws, name));
      writeFileSync(join(ws, name, "x"), "of sub\n");
    }
    await start({ file_write: "ask" });
    const id = await home.tool("apply_patch", { patch: patchOf(lines) });
    const { question_id, approval } = await home.question(id);
    renameSync(join(ws, "sub"), join(ws, "before"));
    symlinkSync("other", join(ws, "sub"));
    await home.answer(question_id, "approve", { hash: approval?.hash as string });
    expect(await home.result(id)).toMatchObject({ error_type: "permission_denied" });
    expect(readdirSync(join(ws, "other"))).toEqual(["x"]);
    expect(readFileSync(join(ws, "other/x"), "utf8")).toBe("of sub\n");
  });
});
