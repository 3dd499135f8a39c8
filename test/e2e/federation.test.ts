/** Two homes (two-homes.ts): what a lent agent is used for, and by whom it is approved. */
import { expect, test } from "vitest";
import { OWNER } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { append, BORROWER, questionAt, testWhatEachSideLearns, useTwoHomes } from "./two-homes.ts";

const homes = await useTwoHomes();
const { lender, borrower, taps, telegram, marks, askedAtLender } = homes;

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

testWhatEachSideLearns(homes);
