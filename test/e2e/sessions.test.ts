/** Sessions on real processes: each tool from the gateway's model and from a device's, the Worker killed, an approval answered in a chat. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { OWNER, onTelegram } from "../platforms/people.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import type { CallRecord, Turn } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

const dir = mkdtempSync(join(tmpdir(), "edgecall-sessions-"));
const marksFile = join(dir, "marks");
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const vars: Record<string, string> = { GATEWAY_TOOLS: "sessions" };
const stack = useStack({ vars }, async (stack) => {
  for (const id of ["ann", "bob"])
    await stack.startAgent({
      id,
      model: id === "ann",
      top: { state_dir: join(dir, id), policy: { append: "ask" } },
      env: { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marksFile },
    });
  await stack.gateway.online("bob");
  await stack.gateway.online("ann");
  const hasTools = async () =>
    (await stack.gateway.toolsOf("ann")).tools.some(({ name }) => name === "sessions_spawn");
  await until(hasTools, { what: "ann has the session tools" });
});
const telegram = await onTelegram((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify([{ ...telegram.settings, role_of: { [OWNER]: "owner" } }]);
afterAll(() => telegram.server.close());

const marks = () => (existsSync(marksFile) ? readFileSync(marksFile, "utf8").trim().split("\n") : []);

/** The gateway's model says what it was told. */
const NOTES: Step = { text: "$notes" };

/** The gateway's model plays these steps itself, or ann's own model does. */
const SIDES: Array<[string, (...steps: Step[]) => string]> = [
  ["the gateway's model", (...steps) => script(...steps, NOTES, NOTES)],
  ["a device's own loop", (...steps) => script(ownLoop("ann", ...steps), RESULTS, NOTES, NOTES)],
];

/** The results of the calls that this side made. */
function resultsIn({ calls }: Turn, side: string): CallRecord[] {
  return side === "the gateway's model" ? calls : (calls[0]?.calls ?? []);
}

/** Until so many turns have ended. */
function ended(conversation: string, count: number) {
  return until(
    async () => {
      const turns = await stack.gateway.turns(conversation).catch(() => []);
      return turns.filter(({ status }) => status !== "running").length >= count ? turns : undefined;
    },
    { within: 50_000, every: 50, what: `${count} turns of ${conversation} have ended` },
  );
}

type Listed = { id: string; title: string; principal?: string };

async function sessionNamed(label: string): Promise<Listed> {
  const look = async () => {
    const response = await stack.gateway.fetch("/v1/conversations?all=yes&limit=100");
    const { conversations } = (await response.json()) as { conversations: Listed[] };
    return conversations.find(({ title }) => title === label);
  };
  return await until(() => look().catch(() => undefined), { within: 20_000, what: `the session '${label}'` });
}

async function restartWorker(): Promise<void> {
  await stack.worker.kill();
  await stack.startWorker();
}

describe.each(SIDES)("from %s", (side, by) => {
  // The last test of a side kills the Worker, and the bridge dials again only after a while.
  beforeEach(() => stack.gateway.online("ann"));

  test("sessions_spawn that waits, and one whose end is a message", async () => {
    const [id, label] = [crypto.randomUUID(), `both ${side}`];
    const waits = tool("sessions_spawn", { task: script({ text: "the first" }), timeout_seconds: 60 });
    const later = tool("sessions_spawn", { task: script({ text: "the second" }), label });
    const turn = await stack.gateway.ask(by(waits, later, { text: "begun" }), id);
    const [first, second] = resultsIn(turn, side);
    expect(first).toMatchObject({ name: "sessions_spawn", status: "success", result: "the first" });
    expect(second).toMatchObject({ name: "sessions_spawn", status: "success" });
    const turns = await ended(id, 2);
    expect(turns).toHaveLength(2);
    expect(turns[1]?.answer).toMatch(/has ended\. Its answer:\nthe second$/);
    const session = await sessionNamed(label);
    expect(session.principal).toBe(side === "the gateway's model" ? undefined : "agent:ann");
    expect(await stack.gateway.turns(session.id)).toMatchObject([{ answer: "the second", status: "done" }]);
  });

  test("sessions_list, sessions_history, session_status, agents_list", async () => {
    const [label, held] = [`listed ${side}`, crypto.randomUUID()];
    const task = script({ hold: held, step: { text: "what it says" } });
    await stack.gateway.ask(by(tool("sessions_spawn", { task, label }), { text: "begun" }));
    const { id } = await sessionNamed(label);
    const looks = await stack.gateway.ask(
      by(
        tool("sessions_list", { q: label }),
        tool("session_status", { session: id }),
        tool("agents_list"),
        RESULTS,
      ),
    );
    const [list, status, agents] = resultsIn(looks, side).map(({ result }) => JSON.parse(result ?? "{}"));
    expect(list.sessions).toMatchObject([{ session: id, title: label, spawned: true }]);
    expect(status).toMatchObject({ session: id, status: "running", turns: 1, depth: 1 });
    expect(agents.agents).toMatchObject([
      { agent_id: "ann", status: side === "the gateway's model" ? "idle" : "running" },
      { agent_id: "bob", status: "idle" },
    ]);
    stack.model.release(held);
    await ended(id, 1);
    const past = await stack.gateway.ask(by(tool("sessions_history", { session: id }), RESULTS));
    expect(JSON.parse(resultsIn(past, side)[0]?.result ?? "{}").turns).toMatchObject([
      { status: "done", answer: "what it says" },
    ]);
  });

  test("sessions_send, and a cancel", async () => {
    const [label, held] = [`sent ${side}`, crypto.randomUUID()];
    const task = script({ text: "ready" });
    await stack.gateway.ask(by(tool("sessions_spawn", { task, label, timeout_seconds: 60 }), RESULTS));
    const { id } = await sessionNamed(label);
    const message = script({ text: "heard you" });
    const sent = await stack.gateway.ask(by(tool("sessions_send", { session: id, message }), RESULTS));
    expect(resultsIn(sent, side)).toMatchObject([{ name: "sessions_send", result: "heard you" }]);
    const long = script({ hold: held, step: { text: "never" } });
    const stopped = await stack.gateway.ask(
      by(
        tool("sessions_send", { session: id, message: long, timeout_seconds: 0 }),
        tool("session_status", { session: id, cancel: true }),
        RESULTS,
      ),
    );
    expect(resultsIn(stopped, side)[1]).toMatchObject({
      name: "session_status",
      result: `The turn of session ${id} has ended: cancelled.`,
    });
    stack.model.release(held);
    expect((await ended(id, 3)).map(({ status }) => status)).toEqual(["done", "done", "cancelled"]);
  });

  test("a session outlives a SIGKILL of the Worker, for one who waits and for one who does not", async () => {
    const [waiting, free, held] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const task = () => script(...[1, 2, 3].map(() => ({ hold: held, step: { text: "it lives" } })));
    const spawns = (more: object) => by(tool("sessions_spawn", { task: task(), ...more }), RESULTS);
    const first = await stack.gateway.begin(spawns({ label: waiting, timeout_seconds: 600 }), waiting);
    await stack.gateway.begin(spawns({ label: free }), free);
    const sessions = await Promise.all([sessionNamed(waiting), sessionNamed(free)]);
    await ended(free, 1);
    await restartWorker();
    stack.model.release(held);
    expect(await stack.gateway.settled(waiting, first)).toMatchObject({ status: "done", answer: "it lives" });
    const turns = await ended(free, 2);
    expect(turns).toHaveLength(2);
    for (const { id } of sessions)
      expect(await ended(id, 1)).toMatchObject([{ status: "done", answer: "it lives" }]);
  }, 90_000);
});

test("killed between their ends and their messages, each end is told once", async () => {
  let met = 0;
  // Ends are told within a few ms: some rounds may be too late.
  for (let round = 0; round < 6 && met === 0; round += 1) {
    const held = crypto.randomUUID();
    const names = Array.from({ length: 8 }, () => crypto.randomUUID());
    for (const name of names) {
      const task = script(...[1, 2, 3].map(() => ({ hold: held, step: { text: "over" } })));
      // A model gets the request from before the kill once more.
      const told = Array.from({ length: 4 }, () => NOTES);
      const text = script(tool("sessions_spawn", { task, label: name }), { text: "begun" }, ...told);
      await stack.gateway.ask(text, name);
      await sessionNamed(name);
    }
    const { worker } = stack;
    const ends = () =>
      worker.events("turn.ended").filter(({ conversation }) => String(conversation).includes("/session-"));
    const before = ends().length;
    stack.model.release(held);
    await until(() => ends().length > before, { every: 1, what: "the first of them has ended" });
    await worker.kill();
    const told = new Set(worker.events("call.late").map(({ call }) => call));
    met = ends().filter(({ turn }) => !told.has(turn)).length;
    await stack.startWorker();
    for (const name of names) {
      const turns = await ended(name, 2);
      expect(turns.map(({ answer }) => answer)).toEqual([
        "begun",
        expect.stringMatching(/has ended\. Its answer:\nover$/),
      ]);
      const { id } = await sessionNamed(name);
      expect(await stack.gateway.turns(id)).toMatchObject([{ status: "done", answer: "over" }]);
    }
  }
  expect(met).toBeGreaterThan(0);
}, 180_000);

test("an approval within a session is answered in the chat that began it, and its end is a message there", async () => {
  // The Worker was killed just before, and the bridge may still be away.
  await stack.gateway.online("bob");
  const before = marks().length;
  const task = script(action("bob", "append", { text: "from a session" }), { text: "it is written" });
  const text = script(
    tool("sessions_spawn", { task }),
    { text: "I have begun it." },
    { text: "News: $notes" },
  );
  const chat = await telegram.say(text, OWNER);
  await waitForText(chat, "I have begun it.");
  const asked = await waitForMessage(chat, ({ buttons }) => buttons.length > 1, "the buttons");
  expect(asked.text).toContain("bob");
  expect(marks()).toHaveLength(before);
  await telegram.press(asked.buttons[0]?.data ?? "", OWNER, OWNER);
  await waitForText(chat, /News: .*it is written/s);
  expect(marks()).toHaveLength(before + 1);
});

test("every history that the models received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
