// @module-tag needs/openssh-server
// @module-tag needs/openssh-client
// @module-tag needs/ripgrep
// @module-tag needs/bubblewrap
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../env/environment.ts";
import { http } from "../env/http/http.ts";
import { local } from "../env/local.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { ssh } from "../env/ssh/ssh.ts";
import { callTool } from "../testing/call.ts";
import { startServed } from "../testing/served-files.ts";
import { type Sshd, startSshd } from "../testing/sshd.ts";
import { append } from "../tools/files/append.ts";
import { applyPatch } from "../tools/files/apply-patch.ts";
import { find, glob } from "../tools/files/find.ts";
import { ls } from "../tools/files/ls.ts";
import {
  allTools,
  codingTools,
  customTools,
  readOnlyTools,
  remoteHttpTools,
  remoteTools,
  sandboxed,
} from "./presets.ts";

let sshd: Sshd;
beforeAll(async () => {
  sshd = await startSshd();
});
afterAll(async () => await sshd.close());

const folder = () => mkdtempSync(join(tmpdir(), "edgecall-presets-"));
const names = (tools: Tool[]) => tools.map(({ name }) => name);

test("each set has its tools", () => {
  const cwd = folder();
  expect(names(codingTools(cwd))).toEqual(["read", "bash", "edit", "write"]);
  expect(names(readOnlyTools(cwd))).toEqual(["read", "grep", "find"]);
  const six = ["read", "bash", "edit", "write", "grep", "find"];
  expect(names(allTools(cwd))).toEqual(six);
  expect(names(remoteTools("/srv", "gpu", "10.0.0.44", "peter", "~/.ssh/key"))).toEqual(six);
  expect(names(remoteHttpTools("/srv", "gpu", "https://10.0.0.44:7443", "token"))).toEqual(six);
  expect(() => remoteHttpTools("/srv", "gpu", "http://10.0.0.44:7443", "token")).toThrow("without TLS");
  expect(() => remoteTools("/srv", "gpu", "-oProxyCommand=x", "peter", "~/.ssh/key")).toThrow();
});

test("the owner's limits reach the tools", () => {
  const tools = customTools({
    cwd: folder(),
    maxReadLines: 5_000,
    maxReadBytes: 10_240,
    bashTimeoutMs: 120_000,
  });
  const [read, bash] = tools;
  expect(read?.description).toContain("at most 5000 lines or 10.0KB");
  expect(JSON.stringify(jsonSchema((read as Tool).input))).toContain('"maximum":5000');
  expect(bash?.timeoutMs).toBe(120_000);
});

/** The same calls in each place must give the same results and leave the same files. */
const SCRIPT: Array<[tool: string, args: Record<string, unknown>, answer: RegExp]> = [
  ["write", { path: "src/a b.txt", content: "one\ntwo\r\n" }, /^Created src\/a b\.txt \(9B\)\.$/],
  ["write", { path: "src/$(id).txt", content: "hit\n" }, /^Created/],
  ["append", { path: "src/a b.txt", content: "hit é\n" }, /^Appended 7B to src\/a b\.txt \(16B now\)\.$/],
  ["read", { path: "src/a b.txt", offset: 2 }, /^two\r\nhit é\n$/],
  ["edit", { path: "src/a b.txt", old_string: "two\n", new_string: "2\n3\n" }, /first at line 2/],
  ["read", { path: "src/a b.txt" }, /^one\n2\r\n3\r\nhit é\n$/],
  ["edit", { path: "none", old_string: "a", new_string: "b" }, /^Error: There is no 'none'/],
  [
    "apply_patch",
    {
      patch:
        "*** Begin Patch\n*** Update File: src/a b.txt\n*** Move to: b.txt\n@@\n-one\n+1\n*** Add File: n/c.txt\n+hit\n*** End Patch",
    },
    /^Done:\nD src\/a b\.txt\nA b\.txt\nA n\/c\.txt$/,
  ],
  ["grep", { pattern: "hit" }, /^b\.txt:4: hit é\nn\/c\.txt:1: hit\nsrc\/\$\(id\)\.txt:1: hit$/],
  ["find", { pattern: "*.txt" }, /^b\.txt\nn\/c\.txt\nsrc\/\$\(id\)\.txt$/],
  ["glob", { pattern: "n/*.txt" }, /^n\/c\.txt$/],
  ["ls", {}, /^b\.txt\nn\/\nout@\nsrc\/$/],
  ["bash", { command: "cat n/c.txt; pwd" }, /^hit\n\/.*ws\n?$/],
  ["read", { path: "out/secret.txt" }, /^Error: .*outside what this agent may read/],
  ["grep", { pattern: "x", path: "out" }, /^Error: .*outside what this agent may read/],
  ["write", { path: "out/new.txt", content: "x" }, /^Error: .*outside what this agent may write/],
  ["read", { path: "n" }, /^Error: 'n' is a folder/],
];

const PLACES: Record<string, (cwd: string) => Environment | Promise<Environment>> = {
  local: (cwd) => local({ cwd }),
  sandbox: (cwd) => sandbox({ workspace: cwd }),
  sandboxed: (cwd) => sandboxed(cwd),
  ssh: (cwd) => ssh({ name: "far", host: "127.0.0.1", ...sshd, cwd }),
  http: async (cwd) => {
    const { url, token, close } = await startServed({ cwd });
    const far = http({ name: "far", url, token, cwd });
    return { ...far, close: async () => void (await Promise.all([far.close(), close()])) };
  },
};

describe.each(Object.keys(PLACES))("every tool of files, %s", (kind) => {
  test("works there, and only there", async () => {
    const root = folder();
    const cwd = join(root, "ws");
    mkdirSync(cwd);
    mkdirSync(join(root, "out"));
    writeFileSync(join(root, "out/secret.txt"), "secret");
    symlinkSync("../out", join(cwd, "out"));
    const environment = await (PLACES[kind] as (typeof PLACES)[string])(cwd);
    const tools = [
      ...customTools({ environment }),
      append(environment),
      applyPatch(environment),
      find(environment),
      glob(environment),
      ls(environment),
    ];
    for (const [name, args, answer] of SCRIPT) {
      const tool = tools.find((one) => one.name === name) as Tool;
      const { text } = await callTool(tool, args);
      expect(text, `${name} ${JSON.stringify(args)}`).toMatch(answer);
    }
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("1\n2\r\n3\r\nhit é\n");
    await environment.close();
  });
});
