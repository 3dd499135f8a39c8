/** The rights of callers on a device, through the whole stack: approvals, capabilities, skills, and the audit log. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { GatewayClient } from "./gateway-client.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "careful", model: true, top: { policy: { shell: "ask" } } });
  await stack.startAgent({ id: "trusting", model: true, top: { policy: { shell: "allow" } } });
  await stack.startAgent({
    id: "reader",
    model: true,
    top: { agent: { capabilities: ["file_read"] } },
  });
  for (const id of ["careful", "trusting", "reader"]) await stack.gateway.online(id);
});

/** Asks, and answers the question to the person that comes meanwhile. */
async function asked(step: Step, answer: string) {
  const conversation = crypto.randomUUID();
  const turn = stack.gateway.ask(script(step, RESULTS), conversation);
  const question = await stack.gateway.question(conversation);
  return { question, answered: await stack.gateway.answer(question.id, answer), turn: await turn };
}

const WAYS = [
  ["as an action", (agent: string, args: object): Step => action(agent, "bash", { ...args })],
  [
    "by the device's own loop",
    (agent: string, args: object): Step => ownLoop(agent, tool("bash", { ...args }), RESULTS),
  ],
] as const;

const DENIED =
  "Error: Permission denied for tool 'bash': the user did not approve it. Nothing was run.\n" +
  "Explain to the user; do not try again unless they ask for it.";

describe.each(WAYS)("bash that asks, %s", { tags: ["needs/bubblewrap"] }, (way, bash) => {
  const file = `${way.replaceAll(/\W/g, "-")}.txt`;
  const made = () => existsSync(join(stack.workspaceOf("careful"), file));
  const command = `echo ran | tee -a ${file}`;

  test("denied: nothing runs, and the model reads why", async () => {
    const { question, answered, turn } = await asked(bash("careful", { command }), "deny");
    expect(question).toMatchObject({
      agent: "careful",
      options: ["approve", "deny"],
      text: "Run this on careful?",
      approval: {
        tool: "bash",
        parameters: { command },
        reason: "this device's policy asks before what needs shell",
        card: { verb: "Run", decline: "No", danger: true, shows: ["command"] },
      },
    });
    expect(answered).toBe(200);
    expect(turn.answer).toBe(DENIED);
    expect(made()).toBe(false);
  });

  test("approved: it runs, once", async () => {
    const { turn } = await asked(bash("careful", { command }), "approve");
    expect(turn.answer).toBe("ran\n");
    expect(made()).toBe(true);
  });
});

describe("persons and capabilities", { tags: ["needs/bubblewrap"] }, () => {
  test("a guest cannot approve, and any other word is refused", async () => {
    const conversation = crypto.randomUUID();
    const turn = stack.gateway.ask(
      script(action("careful", "bash", { command: "touch guest" }), RESULTS),
      conversation,
    );
    const { id } = await stack.gateway.question(conversation);
    const guest = new GatewayClient(stack.gateway.url, TOKENS.guest);
    const stranger = new GatewayClient(stack.gateway.url, TOKENS.otherHome);
    // The conversation belongs to another person.
    expect(await guest.answer(id, "approve")).toBe(404);
    expect(await stranger.answer(id, "approve")).toBe(404);
    expect(await stack.gateway.answer(id, "yes")).toBe(400);
    expect(await stack.gateway.answer(id, "deny")).toBe(200);
    expect(await stack.gateway.answer(id, "approve")).toBe(409);
    expect((await turn).answer).toBe(DENIED);
    expect(existsSync(join(stack.workspaceOf("careful"), "guest"))).toBe(false);
  });

  test.each(WAYS)("a dangerous command needs approval although the shell is allowed, %s", async (_, bash) => {
    const folder = join(stack.workspaceOf("trusting"), "keep");
    mkdirSync(folder, { recursive: true });
    const harmless = await stack.gateway.ask(script(bash("trusting", { command: "ls -d keep" }), RESULTS));
    expect(harmless.answer).toBe("keep\n");
    const { question, turn } = await asked(bash("trusting", { command: "rm -rf keep" }), "deny");
    expect(question.approval?.reason).toBe("it deletes folders without asking");
    expect(turn.answer).toBe(DENIED);
    expect(existsSync(folder)).toBe(true);
    expect((await asked(bash("trusting", { command: "rm -rf keep" }), "approve")).turn.answer).toBe(
      "(no output)",
    );
    expect(existsSync(folder)).toBe(false);
  });
});

test("the capabilities of [agent] decide which tools exist at all", async () => {
  const { tools, unavailable } = await stack.gateway.toolsOf("reader");
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["ls", "read", "todowrite"]));
  for (const name of ["write", "edit", "append"]) {
    expect(names).not.toContain(name);
    expect(unavailable).toContainEqual({
      name,
      why: "it needs file_write, and capabilities in [agent] of agent.toml does not have it",
    });
  }
  const turn = await stack.gateway.ask(
    script(ownLoop("reader", tool("write", { path: "a", content: "b" }), RESULTS), RESULTS),
  );
  expect(turn.answer).toMatch(/^Error: Tool 'write' not found\. Available tools: /);
  expect(readdirSync(stack.workspaceOf("reader"))).toEqual([]);
});

test("an example skill is offered, run, offered again after a change, and gone with its folder", {
  tags: ["needs/bubblewrap"],
}, async () => {
  await stack.startAgent({ id: "skilled", model: true });
  const advertised = async () => (await stack.gateway.online("skilled")).actions.includes("count_lines");
  expect(await advertised()).toBe(false);
  const workspace = stack.workspaceOf("skilled");
  writeFileSync(join(workspace, "list.txt"), "milk\nbread\n");
  const skill = join(workspace, "../skills/count-lines");
  cpSync(join(ROOT, "examples/skills/count-lines"), skill, { recursive: true });
  await until(advertised, { within: 20_000, every: 100 });
  const params = { path: "list.txt" };
  const inBothWays = async () => {
    const steps = [
      action("skilled", "count_lines", params),
      ownLoop("skilled", tool("count_lines", params), RESULTS),
    ];
    return (await stack.gateway.ask(script(...steps, RESULTS))).answer;
  };
  expect(await inBothWays()).toBe("2\n | 2\n");

  const program = join(skill, "bin/dt-count_lines");
  const text = readFileSync(program, "utf8");
  writeFileSync(program, text.replace("wc -l", "wc -w"));
  const definition = join(skill, "skill.toml");
  writeFileSync(
    definition,
    readFileSync(definition, "utf8")
      .replace("Count the lines", "Count the words")
      .replace('version = "1.0.0"', 'version = "1.1.0"'),
  );
  writeFileSync(join(workspace, "list.txt"), "milk and bread\n");
  const { tools } = await stack.gateway.toolsOf("skilled");
  expect(tools.find(({ name }) => name === "count_lines")).toMatchObject({
    description: "Count the words of a text file in the workspace",
    evoclaw: { version: "1.1.0", skill: "count-lines" },
  });
  expect(await inBothWays()).toBe("3\n | 3\n");

  rmSync(skill, { recursive: true });
  await until(async () => !(await advertised()), { within: 20_000, every: 100 });
});

test("the home's audit log has all of it, with the person who asked", {
  tags: ["needs/bubblewrap"],
}, async () => {
  // An agent sends its audit log when it comes online.
  for (const id of ["careful", "trusting", "skilled"]) {
    await stack.agent(id).stop();
    await stack.restartAgent(id);
  }
  const recorded = async (query: string, count: number) => {
    const look = async () => {
      const response = await stack.gateway.fetch(`/v1/audit?${query}`);
      const { entries } = (await response.json()) as { entries: Array<Record<string, unknown>> };
      return entries.length >= count && entries;
    };
    const entries = await until(look, { within: 15_000, every: 100, what: `${count} lines of ${query}` });
    expect(entries).toEqual(
      entries.map(() =>
        expect.objectContaining({
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          elapsed_ms: expect.any(Number),
          caller: { principal: "anna", role: "owner", channel: "api", conversation: expect.any(String) },
        }),
      ),
    );
    return entries.reverse();
  };

  const approval = (approved: boolean) => ({ approved, by: "anna", at: expect.any(String) });
  const no = {
    result: "error",
    error_type: "permission_denied",
    error: DENIED.split("\n")[0],
    exit_code: null,
  };
  const denied = { ...no, approval: approval(false) };
  const ran = { result: "success", exit_code: 0 };
  const approved = { ...ran, approval: approval(true) };
  const bash = (command: string, came: object) => ({ tool: "bash", parameters: { command }, ...came });
  expect(await recorded("agent=careful", 5)).toMatchObject([
    bash("echo ran | tee -a as-an-action.txt", denied),
    bash("echo ran | tee -a as-an-action.txt", approved),
    bash("echo ran | tee -a by-the-device-s-own-loop.txt", denied),
    bash("echo ran | tee -a by-the-device-s-own-loop.txt", approved),
    bash("touch guest", denied),
  ]);
  const keep = [bash("ls -d keep", ran), bash("rm -rf keep", denied), bash("rm -rf keep", approved)];
  expect(await recorded("agent=trusting", 6)).toMatchObject([...keep, ...keep]);
  const counted = { agent_id: "skilled", tool: "count_lines", parameters: { path: "list.txt" }, ...ran };
  expect(await recorded("tool=count_lines", 4)).toMatchObject([counted, counted, counted, counted]);
  const guest = new GatewayClient(stack.gateway.url, TOKENS.guest);
  expect((await guest.fetch("/v1/audit")).status).toBe(403);
});

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
