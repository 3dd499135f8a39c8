/**
 * Two homes at two gateways, each with its own broker, bridge and devices, as real processes. One lends an agent to the other. All bytes
 * between the gateways pass two taps: they hold no name of the other home beyond what docs/federation.md lists.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { OWNER, onTelegram } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { type Step, script } from "../scripted-model.ts";
import { sha256, TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { GatewayClient, type Question } from "./gateway-client.ts";
import { PeerTap } from "./peer-tap.ts";
import { type Stack, useStack } from "./stack.ts";

const dir = mkdtempSync(join(tmpdir(), "edgecall-federation-"));
const marksFile = join(dir, "marks");
const taps = { lender: await PeerTap.start(), borrower: await PeerTap.start() };
afterAll(() => {
  for (const tap of Object.values(taps)) tap.stop();
  rmSync(dir, { recursive: true, force: true });
});
// After a restart of a gateway, its bridge comes back in a moment.
beforeEach(async () => {
  await lender.gateway.online("lathe");
  await borrower.gateway.online("kettle-own");
});
afterEach(() => {
  for (const tap of Object.values(taps)) {
    tap.onRequest = () => "pass";
    tap.onAnswer = () => "pass";
  }
});

/** Each side must learn none of this of the other: its people, devices and their words, its bridge and its home. */
const LENDER = {
  home: "larchhome",
  person: "Wilhelmina",
  devices: ["press-hidden"],
  words: ["hidden press of the lender"],
  bridge: "larchbridge",
};
const BORROWER = {
  home: "birchhome",
  person: "Bartholomew",
  devices: ["kettle-own"],
  words: ["own kettle of the borrower"],
  bridge: "birchbridge",
};
type Side = typeof LENDER;

/** A second home at the lender's gateway. */
const NEIGHBOUR = { home: "lindenhome", person: "Leopold" };

const scopes = ["ask", "command", "approve", "admin"];
const ownerOf = (token: string, { home, person }: { home: string; person: string }) => ({
  hash: sha256(token),
  name: person,
  home,
  role: "owner",
  scopes,
});

const vars = (side: Side, tap: PeerTap): Record<string, string> => ({
  PUBLIC_URL: tap.url,
  CHANNELS: "[]",
  API_TOKENS: JSON.stringify([ownerOf(TOKENS.owner, side), ownerOf(TOKENS.otherHome, NEIGHBOUR)]),
  BRIDGE_TOKENS: JSON.stringify([{ hash: sha256(TOKENS.bridge), name: "bridge", home: side.home }]),
});

const agentOf = (id: string, capabilities?: string) => ({
  id,
  model: true,
  ...(capabilities !== undefined && { capabilities }),
  top: { state_dir: join(dir, id) },
  env: { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marksFile },
});

const lender = useStack(
  { vars: vars(LENDER, taps.lender), bridge: { BRIDGE_ID: LENDER.bridge } },
  async (stack) => {
    taps.lender.target = stack.gateway.url;
    await stack.startAgent(agentOf("lathe"));
    await stack.startAgent(agentOf(LENDER.devices[0] ?? "", LENDER.words[0]));
    for (const id of ["lathe", ...LENDER.devices]) await stack.gateway.online(id);
  },
);

const borrowerVars = vars(BORROWER, taps.borrower);
const borrower = useStack({ vars: borrowerVars, bridge: { BRIDGE_ID: BORROWER.bridge } }, async (stack) => {
  taps.borrower.target = stack.gateway.url;
  const [id = ""] = BORROWER.devices;
  await stack.startAgent(agentOf(id, BORROWER.words[0]));
  await stack.gateway.online(id);
  const hasTool = async () =>
    (await stack.gateway.toolsOf(id)).tools.some(({ name }) => name === "edge_call");
  await until(hasTool, { what: "it may call other agents" });
  await lend("work");
});

const telegram = await onTelegram((path, init) => fetch(`${borrower.gateway.url}${path}`, init));
borrowerVars.CHANNELS = JSON.stringify([
  { ...telegram.settings, home: BORROWER.home, role_of: { [OWNER]: "owner" } },
]);
afterAll(() => telegram.server.close());

const marks = () => (existsSync(marksFile) ? readFileSync(marksFile, "utf8").trim().split("\n").length : 0);

async function post(client: GatewayClient, path: string, body: object) {
  const response = await client.fetch(path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

/** The lender's owner lends the lathe, and the other owner borrows it. @returns the grant */
async function lend(name: string, to: GatewayClient = borrower.gateway): Promise<string> {
  const terms = { agents: ["lathe"], scopes: ["ask", "command"], reads_only: false, expires_in_days: 1 };
  const lent = await post(lender.gateway, "/v1/lending", { label: `people of ${name}`, ...terms });
  expect(lent.status, JSON.stringify(lent.body)).toBe(201);
  const { invitation } = lent.body;
  const taken = await post(to, "/v1/borrowing", { invitation, name });
  expect(taken.status, JSON.stringify(taken.body)).toBe(201);
  return (lent.body.lent as { id: string }).id;
}

/** The question that the lender's owner sees in the console. */
async function questionAt(gateway: GatewayClient, within = 20_000): Promise<Question> {
  const look = async () =>
    ((await (await gateway.fetch("/v1/questions")).json()) as { questions: Question[] }).questions[0];
  return await until(() => look().catch(() => undefined), {
    within,
    every: 25,
    what: "a question at the lender",
  });
}

const append = (text: string) => action("work/lathe", "append", { text });

/** A turn of the borrower's chat begins, and the lathe's owner is asked. */
async function askedAtLender(step: Step = append("one")) {
  const conversation = crypto.randomUUID();
  const id = await borrower.gateway.begin(script(step, RESULTS), conversation);
  const question = await questionAt(lender.gateway);
  return { question, ended: () => borrower.gateway.settled(conversation, id, 60_000) };
}

test("a read is used from a chat, by name and in words", async () => {
  const turn = await borrower.gateway.ask(script(action("work/lathe", "disk"), RESULTS));
  expect(turn.answer).toMatch(/\d+% used/);
  expect(turn.calls).toMatchObject([{ agent: "work/lathe", status: "success" }]);
  const asked = await borrower.gateway.ask(script(ownLoop("work/lathe", tool("disk"), RESULTS), RESULTS));
  expect(asked.answer).toMatch(/\d+% used/);
  expect(asked.calls[0]?.calls).toMatchObject([{ name: "disk" }]);
});

test("models of the borrower are shown the lent agent and no other of the lender", async () => {
  await borrower.gateway.ask(script({ text: "hi" }));
  const { tools } = borrower.model.requests.at(-1) ?? {};
  const edgeCall = tools?.find(({ function: { name } }) => name === "edge_call");
  expect(edgeCall?.function.description).toContain("work/lathe");
  expect(edgeCall?.function.description).not.toContain("press");
});

test("lists and counts of devices have the home's own alone; the lent agent stands under Lending", async () => {
  const read = async (path: string) => (await (await borrower.gateway.fetch(path)).json()) as object;
  expect(await read("/v1/status")).toMatchObject({ agents: { known: 1, online: 1 } });
  expect((await borrower.gateway.agents()).map(({ id }) => id)).toEqual(BORROWER.devices);
  expect(await read("/v1/lending")).toMatchObject({
    borrowed: [{ name: "work", agents: [{ id: "work/lathe", online: true }] }],
  });
});

test("what is not a read is approved by the lender's owner, and runs once", async () => {
  const before = marks();
  const { question, ended } = await askedAtLender();
  expect(question).toMatchObject({ agent: "lathe", approval: { tool: "append" } });
  expect(marks()).toBe(before);
  expect(await lender.gateway.answer(question.id, "approve")).toBe(200);
  expect((await ended()).answer).toMatch(/appended/);
  expect(marks()).toBe(before + 1);
});

test("a chat of the borrower says that the call waits for an approval at the lender, and then that it goes on", async () => {
  const before = marks();
  const step = action("work/lathe", "append", { text: "slow", wait_ms: 3_000 });
  const chat = await telegram.say(script(step, RESULTS), OWNER);
  await waitForText(chat, "⏳ work/lathe · append (waits for approval at work)");
  const question = await questionAt(lender.gateway);
  await lender.gateway.answer(question.id, "approve");
  await waitForText(chat, /⏳ work\/lathe · append$/);
  await waitForText(chat, "✓ work/lathe · append");
  await waitForText(chat, /appended/);
  expect(marks()).toBe(before + 1);
});

test("whoever watches the borrower's turn sees what the lent device prints while it works", async () => {
  const response = await borrower.gateway.fetch(`/v1/conversations/${crypto.randomUUID()}/messages`, {
    method: "POST",
    headers: { accept: "text/event-stream" },
    body: JSON.stringify({ text: script(action("work/lathe", "slow", { ms: 3_000, chunks: 10 }), RESULTS) }),
  });
  const events = (await response.text()).split("\n\n");
  const printed = events
    .filter((event) => event.startsWith("event: progress"))
    .map((event) => (JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "{}") as { text: string }).text);
  expect(printed.length).toBeGreaterThan(1);
  // Output of the last moment comes with the outcome alone.
  expect(printed.join("")).toMatch(/^chunk 1\nchunk 2\nchunk 3\n/);
  expect(events.some((event) => event.includes("10 chunks in 3000 ms"))).toBe(true);
});

test("what the lender's owner denies is not run, and the borrower reads so", async () => {
  const before = marks();
  const { question, ended } = await askedAtLender();
  await lender.gateway.answer(question.id, "deny");
  expect((await ended()).answer).toMatch(/not approved|denied/i);
  expect(marks()).toBe(before);
});

test("an agent that is not lent is not found", async () => {
  const turn = await borrower.gateway.ask(script(action("work/anvil", "disk"), RESULTS));
  expect(turn.answer).toContain("'work/anvil' not found");
});

test("a device of the borrower calls it in the middle of its own call", async () => {
  const before = marks();
  const { question, ended } = await askedAtLender(ownLoop("kettle-own", append("two"), RESULTS));
  await lender.gateway.answer(question.id, "approve");
  expect((await ended()).answer).toMatch(/appended/);
  expect(marks()).toBe(before + 1);
  expect(JSON.parse(taps.lender.of("call").at(-1)?.body ?? "{}")).toMatchObject({ chain: { steps: 1 } });
});

test("a cancel in the chat reaches the device", async () => {
  const conversation = crypto.randomUUID();
  const id = await borrower.gateway.begin(script(append("three"), RESULTS), conversation);
  const question = await questionAt(lender.gateway);
  await borrower.gateway.fetch(`/v1/conversations/${conversation}/turns/${id}/cancel`, { method: "POST" });
  await until(async () => (await lender.gateway.agents()).every(({ counts }) => counts.open === 0), {
    what: "the lathe has no open call",
  });
  expect(await lender.gateway.answer(question.id, "approve")).not.toBe(200);
});

test("both records have the call", async () => {
  const record = async (gateway: GatewayClient, agent: string) =>
    (
      (await (await gateway.fetch(`/v1/audit?agent=${encodeURIComponent(agent)}`)).json()) as {
        entries: object[];
      }
    ).entries;
  expect((await record(borrower.gateway, "work/lathe")).length).toBeGreaterThan(3);
  await lender.agent("lathe").stop();
  await lender.restartAgent("lathe");
  await lender.gateway.online("lathe");
  const entries = await until(
    async () => {
      const found = await record(lender.gateway, "lathe");
      return found.length > 3 ? found : undefined;
    },
    { within: 20_000, what: "the device's record" },
  );
  expect(entries).toContainEqual(
    expect.objectContaining({ caller: expect.objectContaining({ principal: "home:people of work" }) }),
  );
});

async function restart(stack: Stack): Promise<void> {
  await stack.worker.kill();
  const back = Promise.withResolvers<void>();
  // Until its bridge is back, the lender says of every device that it is offline.
  if (stack === lender) taps.lender.onRequest = () => back.promise.then(() => "pass" as const);
  await stack.startWorker();
  if (stack === lender) await lender.gateway.online("lathe");
  back.resolve();
}

describe("killed at each arrow, the call has one effect and one answer", () => {
  const ARROWS: ReadonlyArray<readonly [string, (tried: () => void) => void, Stack]> = [
    [
      "the borrower, before its call leaves",
      (tried) => onceAt(taps.lender, "call", "request", tried),
      borrower,
    ],
    ["the lender, before it has the call", (tried) => onceAt(taps.lender, "call", "request", tried), lender],
    [
      "the borrower, before it knows that the call is taken",
      (tried) => onceAt(taps.lender, "call", "answer", tried),
      borrower,
    ],
    ["the lender, after it took the call", (tried) => onceAt(taps.lender, "call", "answer", tried), lender],
    [
      "the borrower, before the outcome comes",
      (tried) => onceAt(taps.borrower, "outcome", "request", tried),
      borrower,
    ],
    [
      "the lender, while it brings the outcome",
      (tried) => onceAt(taps.borrower, "outcome", "request", tried),
      lender,
    ],
    [
      "the borrower, after it has the outcome",
      (tried) => onceAt(taps.borrower, "outcome", "answer", tried),
      borrower,
    ],
    [
      "the lender, before it knows that the outcome arrived",
      (tried) => onceAt(taps.borrower, "outcome", "answer", tried),
      lender,
    ],
  ];

  /** The first time that this passes, it is lost, and the test is told. */
  function onceAt(tap: PeerTap, kind: string, at: "request" | "answer", tried: () => void): void {
    let isFirst = true;
    const lose = ({ path }: { path: string }) => {
      if (!isFirst || !path.endsWith(`/${kind}`)) return "pass";
      isFirst = false;
      tried();
      return "lose";
    };
    if (at === "request") tap.onRequest = lose;
    else tap.onAnswer = lose;
  }

  test.each(ARROWS)(
    "%s",
    async (_, arrange, killed) => {
      const before = marks();
      let wasTried = false;
      arrange(() => {
        wasTried = true;
      });
      const conversation = crypto.randomUUID();
      const id = await borrower.gateway.begin(script(append("four"), RESULTS), conversation);
      const isOver = until(() => wasTried, { within: 30_000, what: "the arrow" }).then(() => restart(killed));
      const question = await questionAt(lender.gateway, 45_000);
      let wasCut = false;
      const cut = () => {
        wasCut = true;
      };
      const status = await until(() => lender.gateway.answer(question.id, "approve").catch(cut));
      // The lender may have been killed after it had the answer and before it said so.
      expect(wasCut ? [200, 409] : [200]).toContain(status);
      await isOver;
      const turn = await borrower.gateway.settled(conversation, id, 60_000);
      expect(turn.answer).toMatch(/appended/);
      expect(turn.calls).toHaveLength(1);
      expect(marks()).toBe(before + 1);
      await until(async () => (await lender.gateway.agents()).every(({ counts }) => counts.open === 0), {
        what: "nothing is open at the lender",
      });
    },
    150_000,
  );

  test("the lathe, while its owner is asked: said as not run, or asked once more", async () => {
    const before = marks();
    const { ended } = await askedAtLender(append("five"));
    await lender.agent("lathe").kill();
    await lender.restartAgent("lathe");
    const turn = ended();
    let isOver = false;
    void turn.finally(() => {
      isOver = true;
    });
    await until(
      async () => {
        const { questions } = (await (await lender.gateway.fetch("/v1/questions")).json()) as {
          questions: Question[];
        };
        for (const { id } of questions) await lender.gateway.answer(id, "deny");
        return isOver;
      },
      { within: 60_000, every: 100, what: "the end of the turn" },
    );
    expect((await turn).answer).toMatch(/not approved|denied|unknown|not run/i);
    expect(marks()).toBe(before);
  }, 90_000);
});

test("taken back in the middle of a call: the device stops, both sides know it, and nothing more is accepted", async () => {
  const before = marks();
  const grant = await lend("brief");
  const held = crypto.randomUUID();
  const conversation = crypto.randomUUID();
  const step = ownLoop("brief/lathe", { hold: held, step: tool("append", { text: "six" }) }, RESULTS);
  const id = await borrower.gateway.begin(script(step, RESULTS), conversation);
  await until(
    () =>
      lender.model.requests.some(({ question }) => question.includes(held) && !question.includes("agent_id")),
    { what: "the lathe's model is asked" },
  );
  expect((await lender.gateway.fetch(`/v1/lending/${grant}`, { method: "DELETE" })).status).toBe(204);
  const turn = await borrower.gateway.settled(conversation, id);
  expect(turn.answer).toContain("The lender took the grant back while it ran: it may or may not have run.");
  lender.model.release(held);
  await until(async () => (await lender.gateway.agents()).every(({ counts }) => counts.open === 0), {
    what: "nothing is open at the lender",
  });
  const next = await borrower.gateway.ask(script(action("brief/lathe", "disk"), RESULTS));
  expect(next.answer).toContain("the lender does not lend this any more");
  expect(marks()).toBe(before);
});

test("a home of the same gateway borrows as well, and no request leaves the gateway", async () => {
  const neighbour = new GatewayClient(lender.gateway.url, TOKENS.otherHome);
  const before = { passed: taps.lender.passed.length, marks: marks() };
  await lend("near", neighbour);
  expect((await neighbour.ask(script(action("near/lathe", "disk"), RESULTS))).answer).toMatch(/\d+% used/);
  const conversation = crypto.randomUUID();
  const id = await neighbour.begin(
    script(action("near/lathe", "append", { text: "seven" }), RESULTS),
    conversation,
  );
  const question = await questionAt(lender.gateway);
  await restart(lender);
  await lender.gateway.answer(question.id, "approve");
  expect((await neighbour.settled(conversation, id, 60_000)).answer).toMatch(/appended/);
  expect(marks()).toBe(before.marks + 1);
  expect(taps.lender.passed).toHaveLength(before.passed);
  expect(await neighbour.agents()).toEqual([]);
}, 90_000);

describe("what each side may learn", () => {
  const namesOf = ({ person, devices, words, bridge }: Side) => [person, bridge, ...devices, ...words];

  test("no byte between the gateways holds a name of the other home", () => {
    const all = `${taps.lender.text()}\n${taps.borrower.text()}`;
    expect(all.length).toBeGreaterThan(10_000);
    for (const name of [...namesOf(LENDER), ...namesOf(BORROWER), NEIGHBOUR.home, NEIGHBOUR.person])
      expect(all, name).not.toContain(name);
  });

  test("a home's id is in the path of what it is asked, and in the borrower's first request alone", () => {
    const isNamed = (tap: PeerTap, home: string) =>
      tap.passed.filter(({ path, body, answer }) => {
        const without = `${path.replace(`/v1/peer/${home}/`, "")}${body}${answer}`;
        return without.includes(home);
      });
    for (const tap of Object.values(taps)) expect(isNamed(tap, LENDER.home)).toEqual([]);
    for (const { path } of Object.values(taps).flatMap((tap) => isNamed(tap, BORROWER.home)))
      expect(path).toMatch(/\/take$/);
  });

  test.each([
    ["lender", () => lender, [...namesOf(BORROWER), BORROWER.home]],
    ["borrower", () => borrower, [...namesOf(LENDER), LENDER.home]],
  ] as const)(
    "nothing that people, models and devices of the %s see has a name of the other home",
    async (_, of, names) => {
      const { gateway, model } = of();
      const seen = [
        ...(await Promise.all(
          [
            "/v1/audit?limit=500",
            "/v1/lending",
            "/v1/agents",
            "/v1/status",
            "/v1/questions",
            "/v1/conversations",
          ].map(async (path) => await (await gateway.fetch(path)).text()),
        )),
        JSON.stringify(model.requests.map(({ messages, tools }) => ({ messages, tools }))),
        of().log(),
      ].join("\n");
      for (const name of names) expect(seen, name).not.toContain(name);
    },
  );

  test("no conversation of the borrower is named", async () => {
    const response = await borrower.gateway.fetch("/v1/conversations?limit=100");
    const { conversations } = (await response.json()) as { conversations: Array<{ id: string }> };
    expect(conversations.length).toBeGreaterThan(3);
    const all = `${taps.lender.text()}\n${taps.borrower.text()}`;
    for (const { id } of conversations) expect(all).not.toContain(id);
  });
});

test("every history that the models received is valid", () => {
  expect([...lender.model.breaches, ...borrower.model.breaches]).toEqual([]);
});
