/** Other machines as nodes: a real sshd of this machine plays them. */
// @module-tag needs/openssh-server
// @module-tag needs/openssh-client
// @module-tag needs/ripgrep
// @module-tag needs/bubblewrap
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArguments } from "@edgecall/core/tools/runner.ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { local } from "../../env/local.ts";
import { MAX_NODES, type Node } from "../../env/nodes/node.ts";
import { Nodes } from "../../env/nodes/nodes.ts";
import { callTool } from "../../testing/call.ts";
import { startServed } from "../../testing/served-files.ts";
import { type Sshd, startSshd } from "../../testing/sshd.ts";
import { edit } from "../files/edit.ts";
import { grep } from "../files/grep.ts";
import { read } from "../files/read.ts";
import { write } from "../files/write.ts";
import { atNodes } from "./at-nodes.ts";
import { bash } from "./bash.ts";
import { nodes, nodesMissing } from "./nodes.ts";

let sshd: Sshd;
let folder: string;
let file: string;
let here: string;
let there: string;
let known: Nodes;

beforeAll(async () => {
  sshd = await startSshd();
  return () => sshd.close();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-nodes-"));
  [here, there] = ["here", "there"].map((name) => join(folder, name)) as [string, string];
  for (const path of [here, there]) mkdirSync(path);
  file = join(folder, "state", "nodes.json");
  known = await Nodes.open(file, { knownHosts: sshd.knownHosts });
  return async () => {
    await known.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

const tool = (of = known) => nodes(of, local({ cwd: here }));
const gpu = () => ({
  name: "gpu",
  host: "127.0.0.1",
  user: sshd.user,
  key: sshd.key,
  port: sshd.port,
  cwd: there,
});
const add = (more = {}) => callTool(tool(), { action: "add", ...gpu(), ...more });
const tools = () =>
  atNodes(local({ cwd: here }), known, (environment) => [
    read(environment),
    write(environment),
    edit(environment),
    grep(environment),
    bash(environment, { guard: { root: environment.cwd, onDanger: "ask" } }),
  ]);

function named(name: string) {
  const found = tools().find((one) => one.name === name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
}

describe("the list of nodes", () => {
  test("is only this device at first", async () => {
    const { text, code } = await callTool(tool(), { action: "list" });
    expect(code).toBeUndefined();
    expect(text).toBe(`local: this device, in ${here} (where tools work when no node is named)`);
    expect(existsSync(file)).toBe(false);
  });

  test("adds a machine that answers, keeps it for the next start, and removes it", async () => {
    const added = await add();
    expect(added.text).toContain(`Added gpu: ssh to ${sshd.user}@127.0.0.1 port ${sshd.port}, in ${there}`);
    expect(statSync(file).mode & 0o077).toBe(0);
    const again = await Nodes.open(file, { knownHosts: sshd.knownHosts });
    expect((await callTool(tool(again), { action: "list" })).text).toContain("gpu: ssh to");
    expect((await callTool(tool(), { action: "describe", name: "gpu" })).text).toMatch(/It answers: Linux/);
    expect((await callTool(tool(), { action: "remove", name: "gpu" })).code).toBeUndefined();
    expect((await Nodes.open(file)).list()).toEqual([]);
  });

  test("refuses machines that do not work or cannot exist", async () => {
    const unknown = await Nodes.open(file, { knownHosts: "/dev/null" });
    const stranger = await callTool(tool(unknown), { action: "add", ...gpu() });
    expect(stranger.code).toBe("unavailable");
    expect(stranger.text).toMatch(/was not added.*ssh-keyscan/s);
    for (const [more, code] of [
      [{ key: "/no/such/key" }, "unavailable"],
      [{ cwd: join(there, "nowhere") }, "unavailable"],
      [{ host: "-oProxyCommand=touch" }, "invalid_params"],
      [{ user: "a b" }, "invalid_params"],
      [{ cwd: "relative" }, "invalid_params"],
      [{ name: "Über" }, "invalid_params"],
      [{ name: "sandbox" }, "invalid_params"],
      [{ host: undefined }, "invalid_params"],
    ] as const)
      expect((await add(more)).code, JSON.stringify(more)).toBe(code);
    expect(known.list()).toEqual([]);
    await add();
    expect((await add()).code).toBe("exists");
  });

  test("has a maximum length", async () => {
    const full = Array.from({ length: MAX_NODES }, (_, n) => ({ ...gpu(), name: `n${n}` }));
    mkdirSync(join(folder, "state"));
    writeFileSync(file, JSON.stringify({ version: 1, nodes: full }));
    const of = await Nodes.open(file, { knownHosts: sshd.knownHosts });
    expect((await callTool(tool(of), { action: "add", ...gpu() })).text).toContain("which is the most");
  });

  test.each(["not JSON", '{"version":1,"nodes":[{"name":"x"}]}', '{"version":2,"nodes":[]}'])(
    "is not read from, or written over, a file with %s",
    async (content) => {
      mkdirSync(join(folder, "state"));
      writeFileSync(file, content);
      const broken = await Nodes.open(file, { knownHosts: sshd.knownHosts });
      expect((await callTool(tool(broken), { action: "list" })).text).toContain(
        "nodes.json is not as it should be",
      );
      expect((await callTool(tool(broken), { action: "add", ...gpu() })).code).toBe("io");
      expect(readFileSync(file, "utf8")).toBe(content);
    },
  );

  test("is changed with a notice to the person, and read without one", () => {
    const { danger, effect, effectIn } = tool();
    const caller = { principal: "a", role: "owner", channel: "t" };
    expect(effect).toBe("exec");
    const actions = ["list", "describe", "add", "remove"];
    expect(actions.map((action) => effectIn?.({ action }))).toEqual(["read", "read", "exec", "exec"]);
    expect(danger?.({ action: "list" }, caller)).toBeUndefined();
    expect(danger?.({ action: "add", ...gpu() }, caller)).toContain(`${sshd.user}@127.0.0.1`);
    expect(danger?.({ action: "remove", name: "gpu" }, caller)).toContain("'gpu'");
  });

  test("needs an ssh client", async () => {
    const { exec } = local({ cwd: here });
    expect(await nodesMissing(exec)).toBeUndefined();
  });
});

test("a node of agent.toml over HTTP: tools work there, and no model can change it", async () => {
  const served = await startServed({ cwd: there });
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, served.token);
  const node: Node = { kind: "http", name: "gpu", url: served.url, token_file: tokenFile, cwd: there };
  known = await Nodes.open(file, { known: [node], knownHosts: sshd.knownHosts });
  expect((await callTool(tool(), { action: "list" })).text).toContain(
    `gpu: the agent at ${served.url}, in ${there}`,
  );
  expect((await callTool(tool(), { action: "describe", name: "gpu" })).text).toContain("It answers: Linux");
  expect(await callTool(tool(), { action: "remove", name: "gpu" })).toMatchObject({
    code: "invalid_params",
    text: expect.stringContaining("only its owner can remove it"),
  });
  expect(await add()).toMatchObject({ code: "exists" });
  expect((await callTool(tool(), { action: "list" })).text).not.toContain(served.token);
  await callTool(named("write"), { path: "a.txt", content: "far", node: "gpu" });
  expect(readFileSync(join(there, "a.txt"), "utf8")).toBe("far");
  expect((await callTool(named("bash"), { command: "pwd", node: "gpu" })).text.trim()).toBe(there);
  const typed = await callTool(named("bash"), { command: "cat", keys: ["<enter>"], node: "gpu" });
  expect(typed.text).toContain("they can be typed on this device only, not on 'gpu'");
  await served.close();
  expect(await callTool(named("write"), { path: "b.txt", content: "x", node: "gpu" })).toMatchObject({
    code: "io",
  });
  expect(existsSync(join(here, "b.txt"))).toBe(false);
});

describe("a tool with a node", () => {
  test("works there, and without one here", async () => {
    await add();
    await callTool(named("write"), { path: "a.txt", content: "far", node: "gpu" });
    await callTool(named("write"), { path: "a.txt", content: "near" });
    expect(readFileSync(join(there, "a.txt"), "utf8")).toBe("far");
    expect(readFileSync(join(here, "a.txt"), "utf8")).toBe("near");
    expect((await callTool(named("read"), { path: "a.txt", node: "gpu" })).text).toBe("far");
    expect((await callTool(named("read"), { path: "a.txt" })).text).toBe("near");
    const ran = await callTool(named("bash"), { command: "pwd", node: "gpu" });
    expect(ran.text.trim()).toBe(there);
    expect(ran.result.details).toMatchObject({ node: "gpu", exit_code: 0 });
  });

  test("never falls back to this device", async () => {
    const unknown = await callTool(named("write"), { path: "a.txt", content: "x", node: "gpu" });
    expect(unknown.code).toBe("not_found");
    expect(unknown.text).toContain("There is no node 'gpu', so nothing was done. Nodes: none.");
    await add();
    const gone = named("write");
    await callTool(tool(), { action: "remove", name: "gpu" });
    expect((await callTool(gone, { path: "a.txt", content: "x", node: "gpu" })).code).toBe("not_found");
    const lost = { ...gpu(), name: "lost", port: 1 };
    mkdirSync(join(folder, "state"), { recursive: true });
    writeFileSync(file, JSON.stringify({ version: 1, nodes: [lost] }));
    known = await Nodes.open(file, { knownHosts: sshd.knownHosts });
    const failed = await callTool(named("bash"), { command: "touch a.txt", node: "lost" });
    expect(failed.code).toBe("io");
    expect(existsSync(join(here, "a.txt"))).toBe(false);
  });

  test("keeps its tool's handling of arguments, locks and dangers", async () => {
    await add();
    const caller = { principal: "a", role: "owner", channel: "t" };
    const writing = named("write");
    expect(writing.lock?.({ path: "a", content: "" })).not.toBe(
      writing.lock?.({ path: "a", content: "", node: "gpu" }),
    );
    expect(named("bash").danger?.({ command: "rm -rf /", node: "gpu" }, caller)).toContain("deletes");
    expect(named("bash").danger?.({ command: "ls", node: "gpu" }, caller)).toBeUndefined();
    expect(named("bash").timeoutIn?.({ command: "ls", timeout_ms: 7, node: "gpu" })).toBe(7);
    const mended = parseArguments(named("grep"), { pattern: "x", glob: "*.ts", node: "gpu" });
    expect(mended).toMatchObject({ ok: true, input: { node: "gpu" } });
    expect(parseArguments(named("read"), { path: "a", nod: "gpu" })).toMatchObject({ ok: false });
    expect(parseArguments(named("read"), { path: "a", node: "../x" })).toMatchObject({ ok: false });
  });
});
