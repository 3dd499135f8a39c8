/** `edgecall` as people and programs use it, with the running stack: in a pipe, and on a terminal. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall, edgecallOnTerminal, type RunningCommand, startEdgecall } from "./command.ts";
import { action } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

const home = mkdtempSync(join(tmpdir(), "edgecall-home-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const stack = useStack({ vars: { GATEWAY_TOOLS: "rules" } }, async (stack) => {
  await stack.startAgent({ id: "pi", top: { policy: { file_write: "ask" } } });
  await stack.gateway.online("pi");
});

const env = () => ({ EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner, HOME: home });
const run = (...args: string[]) => edgecall(args, env());
const warm = (text: string) => script(action("pi", "temperature"), { text });

/** An agent sends its audit log every five minutes, and when it comes online. */
async function bringRecord(): Promise<void> {
  await stack.agent("pi").stop();
  await stack.restartAgent("pi");
  await stack.gateway.online("pi");
}

describe("ask, in a pipe", () => {
  test("only the answer is on stdout, without colours, and the exit code is 0", async () => {
    expect(await run("ask", warm("It has $results"))).toEqual({
      code: 0,
      out: "It has cpu-thermal: 48.3 °C\n",
      err: "",
    });
  });

  test("--verbose writes a line for each call to stderr, with agent, tool, outcome and time", async () => {
    const { out, err } = await run("ask", "--verbose", warm("yes"));
    expect(out).toBe("yes\n");
    expect(err).toMatch(/^→ pi temperature\n✓ pi temperature {2}success {2}[\d.]+ m?s\n$/);
  });

  test("the gateway's own words of a rule stand below the answer", async () => {
    const tea: Step = { calls: [{ name: "remind", arguments: { text: "tea", in_minutes: 60 } }] };
    const { out } = await run("ask", script(tea, { text: "yes" }));
    expect(out).toMatch(/^yes\nReminds you here once, .*: “tea”\.\n$/);
  });

  test("--json prints the turn; the question may come from a pipe, and may continue a conversation", async () => {
    const first = await edgecall(["ask", "--json", "-c", "cli-test", "-"], env(), warm("one"));
    expect(JSON.parse(first.out)).toMatchObject({
      ...{ status: "done", answer: "one" },
      calls: [{ agent: "pi", action: "temperature", status: "success" }],
    });
    await run("ask", "-c", "cli-test", script({ text: "two" }));
    expect((await stack.gateway.turns("cli-test")).map(({ answer }) => answer)).toEqual(["one", "two"]);
  });

  test("a failed turn prints no answer: stderr says why, and the exit code is 1", async () => {
    const refused: Step = { status: 401 };
    const { code, out, err } = await run("ask", script(refused));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^edgecall ask: .+/);
  });

  test("Ctrl-C cancels the turn", async () => {
    const conversation = crypto.randomUUID();
    const command = startEdgecall(
      ["ask", "-v", "-c", conversation, script(action("pi", "temperature"), { hang: "before" })],
      env(),
    );
    await until(() => command.err.includes("✓"), { within: 20_000, what: "the call's end" });
    command.signal("SIGINT");
    expect((await command.ended).code).toBe(130);
    expect((await stack.gateway.turns(conversation)).map(({ status }) => status)).toEqual(["cancelled"]);
  });

  test("it reconnects to a gateway that restarts during the turn, and the answer is complete", async () => {
    const whole = { text: "here I am" };
    // The restarted Worker asks the model again.
    const question = script(action("pi", "temperature"), { hold: "never", step: whole }, whole);
    const command = startEdgecall(["ask", "-v", question], env());
    await until(() => command.err.includes("✓"), { within: 20_000, what: "the call's end" });
    await stack.worker.kill();
    await stack.startWorker();
    expect(await command.ended).toMatchObject({ code: 0, out: "here I am\n" });
    await stack.gateway.online("pi", 30_000);
  });
});

describe("ask, on a terminal", () => {
  const end = (command: RunningCommand) => command.ended.then(({ code, out }) => ({ code, out: plain(out) }));
  /** Removes colours and carriage returns. */
  const plain = (out: string) => stripVTControlCharacters(out).replaceAll("\r", "");

  test("the text appears as it is produced, with the calls in between, in colours", async () => {
    const question = script(action("pi", "temperature"), { text: "half whole", pause: "cli-half" });
    const command = edgecallOnTerminal(["ask", question], env());
    await command.writes("half");
    expect(command.out).not.toContain("whole");
    expect(command.out).toContain("\u001b[32m✓ pi temperature  success");
    stack.model.release("cli-half");
    stack.model.release("cli-half");
    const { code, out } = await end(command);
    expect(code).toBe(0);
    expect(out).toMatch(/✓ pi temperature {2}success {2}[\d.]+ m?s\nhalf whole\n$/);
  });

  test("NO_COLOR removes the colours", async () => {
    const { out } = await edgecallOnTerminal(["ask", warm("yes")], { ...env(), NO_COLOR: "1" }).ended;
    expect(out).toContain("✓ pi");
    expect(out).not.toContain("\u001b");
  });

  test("it shows what would be run, and y runs it", async () => {
    const write = action("pi", "write", { path: "note.txt", content: "first\nsecond" });
    const command = edgecallOnTerminal(["ask", script(write, { text: "It says: $results" })], env());
    await command.writes("Write? [y/n]");
    expect(plain(command.out)).toContain("Write note.txt on pi?\n");
    expect(plain(command.out)).toMatch(/\n {4}first\n {4}second\n[\s\S]*"path":"note\.txt"/);
    command.types("y\r");
    expect((await end(command)).code).toBe(0);
    expect(readFileSync(join(stack.workspaceOf("pi"), "note.txt"), "utf8")).toBe("first\nsecond");
  });

  test("n does not run it", async () => {
    const write = action("pi", "write", { path: "other.txt", content: "x" });
    const command = edgecallOnTerminal(["ask", script(write, { text: "It says: $results" })], env());
    await command.writes("Write? [y/n]");
    command.types("what?\r");
    await command.writes("please answer y or n");
    command.types("n\r");
    const { out } = await end(command);
    expect(out).toContain("✗ pi write  permission_denied");
    expect(out).toContain("the user did not approve it");
  });

  test("waiting shows what waits anywhere, and puts it to the person", async () => {
    const conversation = crypto.randomUUID();
    const write = action("pi", "write", { path: "fourth.txt", content: "x" });
    const turn = stack.gateway.ask(script(write, { text: "It says: $results" }), conversation);
    await stack.gateway.question(conversation);
    const listed = await edgecall(["waiting"], env());
    expect(listed).toMatchObject({ code: 0, out: expect.stringContaining("\nWrite fourth.txt on pi?\n") });
    const command = edgecallOnTerminal(["waiting"], env());
    await command.writes("Write? [y/n]");
    command.types("n\r");
    expect((await command.ended).code).toBe(0);
    expect((await turn).answer).toContain("the user did not approve it");
    expect((await edgecall(["waiting"], env())).out).toBe("nothing waits for you\n");
  });

  test("an answer from elsewhere removes the question, and Ctrl-C at a question cancels", async () => {
    const conversation = crypto.randomUUID();
    const write = (path: string) => action("pi", "write", { path, content: "x" });
    const question = script(write("third.txt"), write("fourth.txt"), { text: "the end" });
    const command = edgecallOnTerminal(["ask", "-c", conversation, question], env());
    await command.writes("Write? [y/n]");
    const { id } = await stack.gateway.question(conversation);
    expect(await stack.gateway.answer(id, "deny")).toBe(200);
    await command.writes(/Write\? \[y\/n\][\s\S]*Write\? \[y\/n\]/);
    command.types("\u0003");
    const { code, out } = await end(command);
    expect(code).toBe(130);
    // Its duration is unknown, which is not 0 ms.
    expect(out).toContain("✗ pi write  execution_failed  Cancelled before it was sent. Nothing was run.");
    const [turn] = await stack.gateway.turns(conversation);
    expect(turn?.status).toBe("cancelled");
  });
});

test("status, and status --tools", async () => {
  const { code, out } = await run("status");
  expect(code).toBe(0);
  expect(out).toMatch(/^gateway {2}http:\S+, \d+\.\d+\.\d+, home 'a'\nbridge {3}online, e2e .*\n/);
  expect(out).toContain("agents   1 of 1 online\ncalls    none in flight\n");
  const tools = await run("status", "--tools");
  expect(tools.out).toMatch(
    /\nAGENT {2}STATUS {2}CALLS {2}SUCCESS {2}ERROR {2}OPEN {2}TOOLS\npi {5}idle +\d/,
  );
  expect(JSON.parse((await run("status", "--json", "--tools")).out)).toMatchObject({
    ...{ home: "a", bridge: { online: true } },
    tools: [{ agent: "pi", online: true, tools: expect.arrayContaining(["temperature"]) }],
  });
});

test("agents, and one agent with its actions", async () => {
  expect((await run("agents")).out).toMatch(/^AGENT {2}STATUS {2}LAST SEEN .*\npi {5}idle {2}/);
  const { out } = await run("agents", "pi");
  expect(out).toMatch(/^agent +pi\nstatus +idle\n/);
  expect(out).toMatch(/\nACTION +EFFECT +DESCRIPTION\n/);
  expect(out).toMatch(/\ntemperature +read {4}/);
  const nobody = await run("agents", "nobody");
  expect(nobody).toMatchObject({ code: 1, out: "" });
  expect(nobody.err).toContain("`edgecall agents` lists those that there are");
});

test("logs --filter=tool, --follow, and metrics --tools read the audit log", async () => {
  await stack.gateway.ask(script(action("pi", "read", { path: "/nowhere/at/all" }), { text: "no" }));
  await bringRecord();
  const follower = startEdgecall(["logs", "--filter=tool", "--follow", "--json", "-n", "1"], env());
  try {
    await follower.writes('"tool":"read"');
    expect(follower.out.trim().split("\n")).toHaveLength(1);
    // The device brings its record by itself while somebody follows it.
    await stack.gateway.ask(script(action("pi", "memory"), { text: "yes" }));
    await follower.writes('"tool":"memory"');
  } finally {
    follower.signal("SIGTERM");
    await follower.ended;
  }
  const { out } = await run("logs", "--filter=tool");
  expect(out).toMatch(/^TIME +AGENT +TOOL +RESULT +EXIT +MS +BY +PARAMETERS\n/);
  expect(out).toMatch(/\d\d-\d\d \d\d:\d\d:\d\d {2}pi +temperature +success +\d+ +anna/);
  expect((await run("logs", "--tool=memory", "--json")).out.trim().split("\n")).toHaveLength(1);
  const tools = await run("metrics", "--tools");
  expect(tools.out).toMatch(/^AGENT +TOOL +CALLS +SUCCESS +ERROR +TIMEOUT +AVG MS +LAST ERROR\n/);
  expect(tools.out).toMatch(/\npi +memory +1 +1 +0 +0 +\d+\n/);
  expect(JSON.parse((await run("metrics", "--tools", "--json")).out)).toContainEqual(
    expect.objectContaining({ agent: "pi", tool: "read", error_count: 1, last_error: expect.any(String) }),
  );
});

test("metrics shows the loop's figures", async () => {
  // The gateway keeps the same page for five minutes, so its numbers are not checked here.
  const { code, out } = await run("metrics");
  expect(code).toBe(0);
  expect(out).toMatch(
    /^requests +\d+ done, \d+ failed, \d+ cancelled\naverage iterations per request +[\d.]+\n/,
  );
  expect(out).toMatch(/\ntime to final response, average +[\d.]+ m?s\n/);
  expect(out).toMatch(/\nrecovery success rate +/);
  const { requests, tool_calls } = JSON.parse((await run("metrics", "--json")).out);
  expect(requests.done).toBeGreaterThan(0);
  expect(tool_calls.success).toBeGreaterThan(0);
});

test("what a token may not see is reported, and a wrong command line sends no request", async () => {
  const guest = await edgecall(["logs"], { ...env(), EDGECALL_TOKEN: TOKENS.guest });
  expect(guest).toMatchObject({ code: 1, out: "" });
  expect(guest.err).toContain("does not have the scope 'admin': use a token that may do this");
  expect((await run("logs", "--filter=weather")).code).toBe(2);
  const allTime = await run("metrics", "--since=24h");
  expect(allTime).toMatchObject({ code: 2, err: expect.stringContaining("--since goes with --tools") });
  expect((await run("logs", "--since=tomorrow")).err).toContain("use 15m, 24h, 7d");
});

test("login stores a working token, readable only by its owner, and stores nothing else", async () => {
  // Nothing of this checkout's own home.
  const alone = { HOME: home, EDGECALL_DIR: join(home, "state") };
  const url = stack.gateway.url;
  const wrong = await edgecall(["login", url], alone, "not-the-token-of-this-home\n");
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("does not know this token") });
  expect((await edgecall(["status"], alone)).err).toContain(
    "no gateway runs here, and none is known: `edgecall start` starts one; else run `edgecall login URL`",
  );
  const none = await edgecall(["login", url], alone, "\n");
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("no token was given") });
  // Without a scheme, this machine is asked over http as `npm start` serves it, and another gateway only over https.
  const right = await edgecall(["login", new URL(url).host], alone, `${TOKENS.owner}\n`);
  expect(right).toMatchObject({ code: 0, err: expect.stringContaining(`signed in to ${url}, home 'a'`) });
  const file = join(home, ".config/edgecall/config.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await edgecall(["status"], alone)).code).toBe(0);
  // The environment has priority, and a stored token is sent to no other address.
  expect((await edgecall(["status"], { ...alone, EDGECALL_TOKEN: "another-token-of-nobody" })).code).toBe(1);
  const elsewhere = await edgecall(["status"], { ...alone, EDGECALL_URL: "http://127.0.0.1:1" });
  expect(elsewhere.err).toContain("no token for http://127.0.0.1:1 is known here");
  await edgecall(["login", "--forget"], alone);
  expect((await edgecall(["status"], alone)).code).toBe(1);
});

test("on a terminal login asks for the token and does not show it", async () => {
  const command = edgecallOnTerminal(["login", stack.gateway.url], { HOME: home });
  await command.writes("token (it is not shown): ");
  command.types(`${TOKENS.owner}\r`);
  const { code, out } = await command.ended;
  expect(code).toBe(0);
  expect(out).toContain("signed in to");
  expect(out).not.toContain(TOKENS.owner);
});
