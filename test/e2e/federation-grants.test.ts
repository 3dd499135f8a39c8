/** Two homes (two-homes.ts): a grant that is taken back, and one within a gateway. */
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { GatewayClient } from "./gateway-client.ts";
import { questionAt, testWhatEachSideLearns, useTwoHomes } from "./two-homes.ts";

const homes = await useTwoHomes();
const { lender, borrower, taps, marks, lend, restart } = homes;

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

testWhatEachSideLearns(homes);
