/**
 * Bridges and agents of other versions, as real programs: one minor version back works, and any other is refused with a
 * clear text.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWorker } from "../../local/gateway.ts";
import { freePort } from "../../local/port.ts";
import { KEPT_VERSIONS, type KeptVersion, keptWorker, openPrograms } from "../kept/programs.ts";
import { script } from "../scripted-model.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall } from "./command.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

const programs = openPrograms();
afterAll(() => rmSync(programs.folder, { recursive: true, force: true }));

const bridge: Record<string, string> = {};
const TOOLS = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
const AGENT = { model: true, env: TOOLS, top: { policy: { device: "allow" } } };
const agentOf = (version: KeptVersion) => `of-${version.replaceAll(".", "-")}`;
const [OLDEST] = KEPT_VERSIONS.toReversed() as [KeptVersion];
const bridgeScript = programs.kept("bridge", OLDEST);
const stack = useStack({ bridge, bridgeScript }, async (stack) => {
  for (const version of KEPT_VERSIONS)
    await stack.startAgent({ ...AGENT, id: agentOf(version), script: programs.kept("agent", version) });
  await stack.startAgent({ ...AGENT, id: "new" });
  await online();
});

/** Waits until all agents are online. */
async function online(): Promise<void> {
  for (const id of [...KEPT_VERSIONS.map(agentOf), "new"]) await stack.gateway.online(id);
}

/** The minor version of today, and the next. */
const MINOR = VERSION.replace(/\.\d+$/, "");
const NEXT = MINOR.replace(/\d+$/, (minor) => `${Number(minor) + 1}.0`);

type Seen = { version: string | null; online: boolean; problem?: string };

async function bridgeSeen(): Promise<Seen> {
  return ((await (await stack.gateway.fetch("/v1/status")).json()) as { bridge: Seen }).bridge;
}

async function agentSeen(id: string): Promise<Seen> {
  const { agents } = (await (await stack.gateway.fetch("/v1/agents")).json()) as {
    agents: Array<Seen & { id: string }>;
  };
  return agents.find((one) => one.id === id) ?? { version: null, online: false };
}

/** Tests the main functions of a home with this agent. */
function works(agent: string): void {
  test("a question is answered, by its tools and by its own model", async () => {
    const steps = [action(agent, "memory"), ownLoop(agent, tool("memory"), RESULTS), RESULTS];
    const turn = await stack.gateway.ask(script(...steps));
    expect(turn.calls).toMatchObject([{ status: "success" }, { status: "success" }]);
    expect(turn.answer).toMatch(/^RAM .* \| RAM /);
  });

  test("an approval is requested, and is effective", async () => {
    const conversation = crypto.randomUUID();
    const turn = stack.gateway.ask(script(action(agent, "append", { text: "x" }), RESULTS), conversation);
    const question = await stack.gateway.question(conversation);
    expect(question).toMatchObject({ agent, approval: { tool: "append" } });
    await stack.gateway.answer(question.id, "approve");
    expect((await turn).answer).toMatch(/^appended /);
  });

  test("a job ends, and its result is reported", async () => {
    const conversation = crypto.randomUUID();
    const asked = script(action(agent, "job", { ms: 100 }), { text: "begun" }, { text: "later: $notes" });
    expect((await stack.gateway.ask(asked, conversation)).answer).toBe("begun");
    const later = () =>
      stack.gateway.turns(conversation).then((all) => all.find(({ answer }) => answer?.startsWith("later")));
    expect((await until(later, { within: 20_000, every: 50 })).answer).toContain("done after 100 ms");
  });
}

describe.each(KEPT_VERSIONS)("a bridge of %s", (version) => {
  beforeAll(async () => {
    await stack.bridge.stop();
    await stack.startBridge("e2e", programs.kept("bridge", version));
    await online();
  });

  describe("and an agent of the same version", () => works(agentOf(version)));
  describe("and today's agent", () => works("new"));

  test("one minor version back causes no problem in any program", async () => {
    expect(await bridgeSeen()).toMatchObject({ online: true, version });
    expect(await bridgeSeen()).not.toHaveProperty("problem");
    for (const [id, itsVersion] of [
      [agentOf(version), version],
      ["new", VERSION],
    ] as const) {
      expect(await agentSeen(id)).toMatchObject({ online: true, version: itsVersion });
      expect(await agentSeen(id)).not.toHaveProperty("problem");
      const greetings = stack.agent(id).events("gateway.version");
      expect(greetings.length).toBeGreaterThan(0);
      expect(greetings.every(({ level, version }) => level === "info" && version === VERSION)).toBe(true);
    }
    // It received nothing that it does not know.
    expect(stack.bridge.events("gateway.frame_ignored")).toEqual([]);
  });
});

describe.each([
  ["0.0.9", "kept", `bridge 0.0.9 is too old for gateway ${VERSION}: update the bridge`],
  [
    NEXT,
    "today's",
    `bridge ${NEXT} is newer than gateway ${VERSION}: update the gateway, or put the bridge back to ${MINOR}`,
  ],
] as const)("a bridge that calls itself %s", (version, which, words) => {
  beforeAll(async () => {
    await stack.bridge.stop();
    // Chosen just before its use, because other programs of this machine also look for free ports.
    bridge.HEALTH_PORT = String(await freePort());
    const path =
      which === "kept" ? programs.kept("bridge", OLDEST, version) : await programs.ofToday("bridge", version);
    stack.startBridge("e2e", path).catch(() => {});
  });

  test("is refused with a text: in its log, its health, the gateway's status and the doctor", async () => {
    const down = "gateway.down";
    await stack.bridge.logged(down, (line) => line.code === 4003 && line.reason === words);
    // It does not retry every second.
    expect(stack.bridge.events(down)).toMatchObject([{ level: "error", retry_in_ms: 300_000 }]);
    if (which === "today's") {
      const response = await fetch(`http://127.0.0.1:${bridge.HEALTH_PORT}/readyz`);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        gateway: "offline",
        problem: expect.stringContaining(words),
      });
    }
    expect(await bridgeSeen()).toMatchObject({ online: false, version, problem: words });
    const here = { EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner };
    const { out } = await edgecall(["doctor", "--json", "--no-model"], here);
    expect(JSON.parse(out)).toContainEqual(
      expect.objectContaining({ link: "bridge", is: "wrong", says: `turned away: ${words}` }),
    );
  });
});

describe("today's bridge", () => {
  beforeAll(async () => {
    await stack.bridge.stop();
    await stack.startBridge("e2e", "bridge/main.ts");
    await online();
  });
  for (const version of KEPT_VERSIONS) describe(`and an agent of ${version}`, () => works(agentOf(version)));
});

describe.each([
  ["ancient", "0.0.9", `agent 0.0.9 is too old for gateway ${VERSION}: update the agent`],
  [
    "future",
    NEXT,
    `agent ${NEXT} is newer than gateway ${VERSION}: update the gateway, or put the agent back to ${MINOR}`,
  ],
])("an agent that calls itself %s", (id, version, words) => {
  const runtime = programs.folder;
  beforeAll(async () => {
    const env = { ...TOOLS, RUNTIME_DIRECTORY: runtime };
    await stack.startAgent({ id, env, script: await programs.ofToday("agent", version) });
    await stack.gateway.online(id);
  });

  test("is listed but not called: the model is told why, and a person sees it", async () => {
    const turn = await stack.gateway.ask(script(action(id, "memory"), RESULTS));
    expect(turn.answer).toBe(
      `Error: Agent '${id}' was not called: its program does not fit this gateway (${words}). Nothing was run.\nExplain this to the user.`,
    );
    expect(await agentSeen(id)).toMatchObject({ online: true, version, problem: words });
    const { status, body } = await stack.gateway.command(id, "ping");
    expect([status, body.error?.message]).toEqual([expect.any(Number), expect.stringContaining(words)]);
    const received = stack.agent(id).events("command.received");
    expect(new Set(received.map(({ command }) => command))).toEqual(new Set(["gateway"]));
  });

  test("reports it in its log, and to `edgecall agent status`", async () => {
    const [line] = await until(() => {
      const lines = stack.agent(id).events("gateway.version");
      return lines.length > 0 && lines;
    });
    expect(line).toMatchObject({ level: "error", version: VERSION, error: words });
    const status = JSON.parse(readFileSync(join(runtime, "status.json"), "utf8"));
    expect(status.gateway).toEqual({ version: VERSION, problem: words });
  });
});

test("the Worker of 0.4.0 starts from its own settings", async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-kept-worker-"));
  const worker = await startWorker({ ...keptWorker("0.4.0"), port: 0, dir, vars: testVars });
  try {
    const headers = { authorization: `Bearer ${TOKENS.owner}` };
    const response = await fetch(`${worker.url}/v1/status`, { headers });
    expect(await response.json()).toMatchObject({ version: "0.4.0" });
  } finally {
    await worker.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});
