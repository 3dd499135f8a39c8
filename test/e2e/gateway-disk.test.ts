/** The gateway's rows on a disk that is full, damaged, or another user's: the real Worker says what is wrong, where, and what to do. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  globSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { loadTokens } from "../../local/tokens.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { edgecall } from "./command.ts";
import { Program, plainEnvironment, ROOT } from "./program.ts";

type Finding = { link: string; is: string; says: string; todo?: string };
type Body = {
  error?: { code: string; message: string };
  conditions?: Array<{ code: string; text: string; cure: string }>;
};

let worker: Program | undefined;
let url = "";
afterEach(async () => {
  await worker?.stop();
});

async function startWorker(dir: string): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = { ...testVars, LLM_BASE_URL: "http://127.0.0.1:9/v1", LLM_MODEL: "none", PORT: String(port) };
  worker = new Program({ name: "worker", script: "local/worker.ts", env: { ...env, EDGECALL_DIR: dir } });
  await worker.ready;
}

async function ask(path: string, body?: unknown): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function doctor(): Promise<Finding[]> {
  const env = { EDGECALL_URL: url, EDGECALL_TOKEN: TOKENS.owner };
  return JSON.parse((await edgecall(["doctor", "--json", "--no-model"], env)).out) as Finding[];
}

const NEW_TOKEN = { name: "x", role: "member", scopes: ["ask"] };

test("O5: on a full disk the gateway names the disk and the cure, also to the doctor, and goes on when there is room", {
  tags: ["needs/mounts"],
  timeout: 90_000,
}, async () => {
  const disk = mkdtempSync(join(tmpdir(), "edgecall-rows-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "edgecall-test", disk], { stdio: "pipe" });
  onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
  await startWorker(disk);
  expect((await ask("/v1/tokens", NEW_TOKEN)).status).toBe(201);
  expect((await ask("/v1/status")).body).not.toHaveProperty("conditions");
  const filler = join(disk, "filler");
  try {
    for (let size = 1_024; ; size += 16_384) writeFileSync(filler, Buffer.alloc(size));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  }
  for (const [path, body] of [
    ["/v1/tokens", NEW_TOKEN],
    ["/v1/conversations/new/messages", { text: "hello" }],
  ] as const) {
    const answer = await ask(path, body);
    expect(answer.status, path).toBe(500);
    expect(answer.body.error?.code, path).toBe("rows_full");
    expect(answer.body.error?.message).toContain(`rows in ${join(disk, "worker")} is full (ENOSPC)`);
    expect(answer.body.error?.message).toContain(`df -h ${join(disk, "worker")}`);
  }
  const [condition] = (await ask("/v1/status")).body.conditions ?? [];
  expect(await doctor()).toContainEqual({
    link: "gateway",
    is: "wrong",
    says: condition?.text,
    todo: condition?.cure,
  });
  rmSync(filler);
  expect((await ask("/v1/tokens", { ...NEW_TOKEN, name: "y" })).status).toBe(201);
  expect((await ask("/v1/status")).body).not.toHaveProperty("conditions");
});

test.each([
  ["a page", 4_096],
  ["the beginning", 0],
])(
  "O5: rows of which %s is damaged: the gateway names the file and the way back, and the doctor does not blame the token",
  async (_, at) => {
    const dir = mkdtempSync(join(tmpdir(), "edgecall-rows-"));
    await startWorker(dir);
    expect((await ask("/v1/tokens", NEW_TOKEN)).status).toBe(201);
    await worker?.stop();
    const [file = ""] = globSync(join(dir, "worker/do/*-Home/*.sqlite")).filter(
      (path) => !path.includes("metadata"),
    );
    execFileSync(process.execPath, ["-e", CHECKPOINT, file], { stdio: "pipe" });
    const rows = openSync(file, "r+");
    writeSync(rows, Buffer.alloc(60 * 1_024, "damaged"), 0, 60 * 1_024, at);
    await startWorker(dir);
    const { status, body } = await ask("/v1/agents");
    expect(status).toBe(500);
    expect(body.error).toMatchObject({ code: "rows_damaged", message: expect.stringContaining(file) });
    expect(body.error?.message).toContain("import the last back-up");
    const findings = await doctor();
    expect(findings.filter(({ is }) => is === "wrong")).toMatchObject([
      { link: "gateway", says: expect.stringContaining(file), todo: expect.stringContaining("journalctl") },
    ]);
    expect(findings.some(({ link }) => link === "token")).toBe(false);
  },
  90_000,
);

/** What is in the -wal goes into the file, so that only the file is there to be damaged. */
const CHECKPOINT = `
  const { DatabaseSync } = require("node:sqlite");
  const rows = new DatabaseSync(process.argv[1]);
  rows.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  rows.close();
`;

test("O5: a state folder of another user is named with its owner, without a stack trace", {
  tags: ["needs/mounts"],
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-other-"));
  loadTokens(dir, undefined);
  chownSync(dir, 65_534, 65_534);
  chmodSync(dir, 0o755);
  for (const [script, env, ...words] of [
    ["cli/main.ts", { EDGECALL_DIR: dir }, "start"],
    [
      "local/home-gateway/main.ts",
      { STATE_DIRECTORY: dir, LLM_BASE_URL: "http://127.0.0.1:9/v1", LLM_MODEL: "x" },
    ],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, script), ...words], {
      uid: 65_534,
      gid: 65_534,
      cwd: "/",
      encoding: "utf8",
      env: { ...plainEnvironment(), HOME: dir, ...env },
    });
    expect(status).toBe(1);
    expect(stderr).toContain(
      `${join(dir, "tokens.json")} belongs to root, and this program runs as user 65534`,
    );
    expect(stderr).toContain("sudo chown -R");
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});
