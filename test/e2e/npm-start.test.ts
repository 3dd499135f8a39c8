/** `npm start`: its answer, its exit code, and that it leaves no process. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROGRAMS } from "@edgecall/node/places.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, isFree } from "../../local/port.ts";
import { agentIdOf } from "../../local/settings.ts";
import { SignIn } from "../oauth-sign-in.ts";
import { type ScriptedModel, startScriptedModel } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { RunningCommand } from "./command.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { GatewayClient } from "./gateway-client.ts";
import { interrupt, npmStart, processesOf, running, stackPid, useStateFolder } from "./npm-start.ts";

/** Returns the disk's usage as `df` shows it. */
function fullness(): string {
  const columns = execFileSync("df", ["-P", "/"], { encoding: "utf8" }).trim().split("\n")[1]?.split(/\s+/);
  return columns?.[4] ?? "df says nothing";
}

const MACHINE = agentIdOf(hostname());
const SENTENCE = `Write "hello" to note.txt on ${MACHINE}`;

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
  model.written.set(SENTENCE, [action(MACHINE, "write", { path: "note.txt", content: "hello" }), RESULTS]);
});
afterAll(() => model.close());
const withModel = () => ({ LLM_BASE_URL: model.url, LLM_MODEL: "scripted" });

// /proc shows which processes belong to it.
describe("npm start", { tags: ["needs/linux"] }, () => {
  const folder = useStateFolder();

  test("--ask prints only the answer, with the percentage of df, and leaves no process", async () => {
    const before = fullness();
    const asked = npmStart(folder.path, ["--ask", "How full is the root disk?"]);
    const seen = new Set<number>();
    const watching = setInterval(() => {
      for (const pid of processesOf(folder.path)) seen.add(pid);
    }, 100);
    expect(await asked.code, asked.err()).toBe(0);
    clearInterval(watching);
    // npm, the stack and its programs. With fewer, this test could not notice that they are gone.
    expect(seen.size).toBeGreaterThan(4);
    expect(processesOf(folder.path)).toEqual([]);

    const percentages = (asked.out().match(/\d+ %/g) ?? []).map((share) => share.replace(" ", ""));
    // Another program may write to the disk meanwhile.
    expect([before, fullness()].some((one) => percentages.includes(one))).toBe(true);
    expect(asked.out()).not.toMatch(/edgecall|gateway|\{"ts"/i);
    expect(asked.err()).toBe("");
  });

  test("--ask with a wrong setting ends with 2 and names it; without a model's answer with 1", async () => {
    // What is understood without a model needs no answer of one.
    const question = ["--ask", "Why is the root disk full?"];
    const wrong = npmStart(folder.path, question, { PORT: "eighty" });
    const help = npmStart(folder.path, ["--help"]);
    const other = join(folder.path, "other");
    mkdirSync(other);
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    const deaf = npmStart(other, question, { LLM_BASE_URL: url, LLM_MODEL: "nobody" });
    expect(await wrong.code).toBe(2);
    expect(wrong.err()).toContain("PORT: expected a number from 0 to 65535, got 'eighty'");
    expect(wrong.out()).toBe("");
    expect(await help.code).toBe(0);
    expect(help.out()).toContain("--ask QUESTION");

    expect(await deaf.code).toBe(1);
    // The reason comes last, below the programs' output.
    const [, reason] = deaf.err().split("I could not get an answer from the model");
    expect(reason).toBeDefined();
    expect(reason).not.toContain('{"ts"');
    expect(deaf.out()).toBe("");
    expect(processesOf(other)).toEqual([]);
  });

  test("prints a code that begins a first passkey, once, at the address where browsers make one", async () => {
    const started = npmStart(folder.path, [], { PORT: String(await freePort()) });
    await running(started);
    const [, token = ""] = /token\s+(\S+)/.exec(started.out()) ?? [];
    const printed =
      /passkey\s+(\S+)\s+\(adds your first one within 10 minutes: (http:\/\/localhost:\d+)\/#\/setup\/passkeys\)/;
    const [, code = "", origin = ""] = printed.exec(started.out()) ?? [];
    expect(code, started.out()).toMatch(/^[A-Z0-9]{6,}$/);
    const send = (path: string, init: RequestInit = {}) => fetch(origin + path, init);
    const cookie = await new SignIn(send, origin).cookie(token);
    const begin = async (shows: object) => {
      const headers = { cookie, origin, "x-edgecall-console": "1", "content-type": "application/json" };
      const body = JSON.stringify(shows);
      return (await send("/v1/passkeys/registrations", { method: "POST", headers, body })).status;
    };
    // Being signed in is not enough, and no other code is.
    expect(await begin({})).toBe(403);
    expect(await begin({ code: code.replace(/.$/, (last) => (last === "A" ? "B" : "A")) })).toBe(403);
    expect(await begin({ code: code.toLowerCase() })).toBe(201);
    expect(await begin({ code })).toBe(403);
    interrupt(started);
    await started.code;
  });

  test("Ctrl-C and SIGTERM leave no process; the next start has the same token and conversations", async () => {
    const port = await freePort();
    const first = npmStart(folder.path, [], { PORT: String(port) });
    const client = await running(first);
    await client.ask("How much memory is in use?", "kept");
    // Chat app connections are encrypted from the first one on, with a stored key.
    const connections = readFileSync(join(folder.path, "connections.key"), "utf8").trim();
    const environments = processesOf(folder.path).map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
    expect(environments.join("\0")).toContain(`\0CONNECTIONS_KEY=${connections}\0`);
    interrupt(first);
    await first.code;
    expect(first.err()).toContain("model: none");
    // Lines that would look like errors at the start: a gateway that is not ready yet, no .env.
    expect(first.err()).not.toMatch(/ECONNREFUSED|\.env/);
    expect(processesOf(folder.path)).toEqual([]);
    expect(await isFree(port, 0)).toBe(true);

    const second = npmStart(folder.path, [], { PORT: String(port) });
    await running(second);
    // With the token of the first start.
    expect(await client.turns("kept")).toMatchObject([
      {
        text: "How much memory is in use?",
        status: "done",
        answer: expect.stringMatching(/memory: \d+ % used/),
      },
    ]);
    process.kill(stackPid(folder.path), "SIGTERM");
    await second.code;
    expect(processesOf(folder.path)).toEqual([]);
  });

  test("O15: edgecall tokens rotate replaces the owner's token at once, keeps what chat apps are connected by, and holds after a crash", async () => {
    const port = await freePort();
    const client = await running(npmStart(folder.path, [], { PORT: String(port) }));
    const key = readFileSync(join(folder.path, "connections.key"), "utf8");
    const as = (token: string) =>
      fetch(`${client.url}/v1/status`, { headers: { authorization: `Bearer ${token}` } }).then(
        ({ status }) => status,
        () => "no gateway",
      );
    const { api: old } = JSON.parse(readFileSync(join(folder.path, "tokens.json"), "utf8")) as {
      api: string;
    };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...PROGRAMS.edgecall, "tokens", "rotate"],
      {
        // It finds the gateway that runs here, as its owner does.
        env: { ...process.env, EDGECALL_DIR: folder.path, XDG_CONFIG_HOME: join(folder.path, "config") },
      },
    );
    expect(stdout.trim()).toMatch(/^[\w-]{43}$/);
    // The gateway keeps its token itself; a second copy would win over the next one.
    expect(existsSync(join(folder.path, "config"))).toBe(false);
    // Either the Worker refuses it, or it is being started anew.
    expect([401, "no gateway"]).toContain(await as(old));
    await until(async () => (await as(stdout.trim())) === 200);
    expect(await as(old)).toBe(401);
    expect(JSON.parse(readFileSync(join(folder.path, "tokens.json"), "utf8"))).toMatchObject({
      api: stdout.trim(),
    });
    expect(readFileSync(join(folder.path, "connections.key"), "utf8")).toBe(key);
    const isRuntime = (pid: number) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0]?.endsWith("workerd");
    const runtimes = processesOf(folder.path).filter(isRuntime);
    expect(runtimes.length).toBeGreaterThan(0);
    for (const pid of runtimes) process.kill(pid, "SIGKILL");
    await until(async () => (await as(stdout.trim())) === 200);
    expect(await as(old)).toBe(401);
    await new GatewayClient(client.url, stdout.trim()).ask("How much memory is in use?", "later");
  });

  test("next to a running stack: --ask asks that stack, and another start is refused in words", async () => {
    const port = await freePort();
    const client = await running(npmStart(folder.path, [], { PORT: String(port) }));
    const asked = npmStart(folder.path, ["--ask", "How much memory is in use?"]);
    // The port is taken too, by the stack that the refusal names.
    const second = npmStart(folder.path, [], { PORT: String(port) });
    const other = join(folder.path, "other");
    mkdirSync(other);
    const taken = npmStart(other, [], { PORT: String(port) });

    expect(await asked.code, asked.err()).toBe(0);
    expect(asked.out()).toMatch(/memory: \d+ % used/);
    expect(asked.err()).toContain(client.url);
    expect(await second.code).toBe(1);
    const who = `process ${stackPid(folder.path)}, ${client.url}`;
    expect(second.err()).toContain(`a stack runs in ${folder.path} already (${who})`);
    expect(await taken.code).toBe(1);
    expect(taken.err()).toContain(`port ${port} is taken`);
  });

  test("C2 a call that changes something asks at the terminal, and y writes the file", {
    timeout: 90_000,
  }, async () => {
    const command = new RunningCommand(
      "script",
      ["-qefc", `npm start --silent -- --ask '${SENTENCE}'`, "/dev/null"],
      {
        TERM: "xterm",
        NO_COLOR: "1",
        EDGECALL_DIR: folder.path,
        ...withModel(),
      },
    );
    await command.writes("Write? [y/n]", 60_000);
    expect(command.out).toContain(`Write note.txt on ${MACHINE}?`);
    command.types("y\r");
    expect((await command.ended).code).toBe(0);
    expect(readFileSync(join(folder.path, "agent/workspace/note.txt"), "utf8")).toBe("hello");
    expect(processesOf(folder.path)).toEqual([]);
  });

  test("C2 without a terminal it ends with a text, and names the way to approve", {
    timeout: 90_000,
  }, async () => {
    const asked = npmStart(folder.path, ["--ask", SENTENCE], withModel());
    expect(await asked.code, asked.err()).toBe(1);
    expect(asked.out()).toBe("");
    expect(asked.err().trim().split("\n").at(-1)).toBe(
      `edgecall ask: "Write note.txt on ${MACHINE}?" waits for your approval, but there is no terminal here to ask in. ` +
        "The question was cancelled. Nothing was run. To approve it, ask again in a terminal or in the console; " +
        "to allow it always, set a rule in [policy] of the device's agent.toml.",
    );
    expect(existsSync(join(folder.path, "agent/workspace/note.txt"))).toBe(false);
    expect(processesOf(folder.path)).toEqual([]);
  });
});
