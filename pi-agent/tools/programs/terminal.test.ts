/** Keys: their bytes by the cases (test/cases/keys.json), and their effect on programs in a terminal. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Environment } from "../../env/environment.ts";
import { local } from "../../env/local.ts";
import { sandbox } from "../../env/sandbox/sandbox.ts";
import { ssh } from "../../env/ssh/ssh.ts";
import { casesOf } from "../../testing/cases.ts";
import { type BashOptions, bash } from "./bash.ts";
import { keyBytes } from "./terminal-keys.ts";

test.each(casesOf("keys").map((one) => [one.id, one] as const))("%s", (_id, { input, expect: wanted }) => {
  expect(Buffer.from(keyBytes(String(input.key)) ?? "").toString("hex")).toBe(wanted.hex);
});

test("cursor keys differ if the program asked for that; an unknown name has no bytes", () => {
  expect(keyBytes("up", { applicationCursor: true })).toBe("\x1bOA");
  expect(keyBytes("f1", { applicationCursor: true })).toBe("\x1bOP");
  expect(keyBytes("Alt-X")).toBe("\x1bX");
  for (const name of ["", "upp", "ctrl-", "ctrl-1", "alt-", "alt-xy", "constructor", "toString"])
    expect(keyBytes(name), name).toBeUndefined();
});

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-terminal-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(environment: Environment, args: Record<string, unknown>, options: BashOptions = {}) {
  const { result } = await runTool(new ToolRegistry([bash(environment, options)]), {
    callId: "c",
    name: "bash",
    args,
    caller: { principal: "test", role: "owner", channel: "test" },
  });
  return { text: textOf(result), code: result.fault?.code, details: result.details };
}

const inPlace = (kind: "local" | "sandbox") => {
  const place = () => (kind === "local" ? local({ cwd: folder }) : sandbox({ workspace: folder }));

  test("a program that asks gets its answers one after another", async () => {
    const command =
      "test -t 0 && test -t 1 || exit 9; stty size; read -p 'Name? ' name; read -p 'Sure? ' sure; echo \"$name:$sure\"; exit 3";
    const { text, details } = await run(place(), { command, keys: ["Anna", "<enter>", "yes", "<enter>"] });
    expect(text).toMatch(/^24 80\nName\? Anna\nSure\? yes\nAnna:yes\n+Command exited with code 3$/);
    expect(details?.exit_code).toBe(3);
  });

  test("keys arrive as their bytes in a program that reads them raw", async () => {
    const command = "stty raw -echo; printf 'ready\\r\\n'; head -c 8 | od -An -tx1; stty sane";
    const { text } = await run(place(), { command, keys: ["<up>", "<f1>", "<alt-x>"] });
    expect(text).toContain("1b 5b 41 1b 4f 50 1b 78");
  });

  test("a program that asks for application cursor keys gets those", async () => {
    const command = "stty raw -echo; printf '\\033[?1hready\\r\\n'; head -c 3 | od -An -tx1; stty sane";
    expect((await run(place(), { command, keys: ["<up>"] })).text).toContain("1b 4f 41");
  });

  test("ctrl-c interrupts; after the last key its input ends", async () => {
    const interrupted = "trap 'echo interrupted; exit 0' INT; echo waits; while :; do sleep 0.05; done";
    expect((await run(place(), { command: interrupted, keys: ["<ctrl-c>"] })).text).toContain("interrupted");
    expect((await run(place(), { command: "cat; echo ended", keys: ["x", "<enter>"] })).text).toMatch(
      /x\n.*ended/s,
    );
  });

  test("without keys there is no terminal", async () => {
    expect((await run(place(), { command: "test -t 0 || test -t 1 || echo none" })).text).toBe("none\n");
  });
};
describe("in local", () => inPlace("local"));
describe("in sandbox", { tags: ["needs/bubblewrap"] }, () => inPlace("sandbox"));

test("an unknown key gets the list of the known ones, and nothing is run", async () => {
  const { text, code } = await run(local({ cwd: folder }), { command: "touch ran", keys: ["y", "<entr>"] });
  expect(code).toBe("invalid_params");
  expect(text).toMatch(
    /^Error: Invalid parameters for 'bash': keys\[1\]: no key 'entr'; there are up, .*enter, .*Nothing was run\.$/s,
  );
});

test("typed text is judged together with the command", async () => {
  const typed = { command: "sh", keys: ["rm -rf ", "/", "<enter>"] };
  const caller = { principal: "test", role: "owner", channel: "test" };
  const place = local({ cwd: folder });
  expect(bash(place, { guard: { onDanger: "ask" } }).danger?.(typed, caller)).toMatch(/deletes folders/);
  const refused = await run(place, typed, { guard: { onDanger: "refuse" } });
  expect(refused.code).toBe("blocked");
});

test("over ssh keys are refused, and nothing is run", async () => {
  const far = ssh({ name: "far", host: "127.0.0.1", port: 1, user: "x", key: "/nowhere", cwd: "/tmp" });
  expect(await run(far, { command: "sh", keys: ["x"] })).toMatchObject({
    code: "invalid_params",
    text: expect.stringContaining("on this device only, not on 'far'"),
  });
});
