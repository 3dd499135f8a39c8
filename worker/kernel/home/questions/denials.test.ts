/** A caller whose calls were denied three times is not asked about for an hour, and a repeat of what was denied disturbs nobody. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { call as mcpCall } from "../../../../test/mcp-requests.ts";
import { PushServers } from "../../../../test/pushed.ts";
import { at, MINUTE, passUntil, ruleHome, T0 } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say } from "../../../../test/workerd.ts";

const LAMPS = ["one", "two", "three", "four"].map((id) => device(id));

let servers: PushServers;
beforeEach(async () => {
  at(T0);
  servers = new PushServers({ CHANNELS: "[]", TIMEZONE: "Europe/Berlin" });
  await hosting(LAMPS);
  await servers.browser("anna", TOKENS.owner);
});
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

const open = async () => (await openQuestions())[0];
const change = (agent_id: string, token = TOKENS.member) => {
  const step = { calls: [{ arguments: { agent_id, action: "set", params: { on: true } } }] };
  const text = script(step, { text: "so: $results" });
  return say(crypto.randomUUID(), text, { token, body: JSON.stringify({ text }) });
};
async function denied(agent: string, token?: string): Promise<string> {
  const turn = change(agent, token);
  const { id } = await until(open, { what: `the question about ${agent}` });
  await ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: "deny" }) });
  return (await turn).body.answer;
}
/** What owners were told of it. */
const told = () =>
  servers.pushed.flatMap(({ message }) => (message.question || message.over ? [] : (message.text ?? "")));

test("after three denials its calls are refused in words for an hour, and the owners are told once", async () => {
  for (const id of ["one", "two"]) await denied(id);
  await passUntil(T0 + MINUTE);
  expect(told()).toEqual([]);
  await denied("three");
  const refused = (await change("four")).body.answer;
  expect(refused).toContain("people said no to 3 calls of mia within 10 minutes");
  expect(refused).toContain("Until 10:01 nobody is asked");
  expect(await open()).toBeUndefined();
  await passUntil(T0 + 5 * MINUTE);
  expect(told()).toEqual([
    "3 calls of mia were denied within 10 minutes. Until 10:01 its calls that need an approval are refused, and nobody is asked.",
  ]);
  // Others are asked about as ever.
  await hosting(LAMPS);
  expect(await denied("four", TOKENS.owner)).toContain("was not approved");
  await passUntil(T0 + 62 * MINUTE);
  await hosting(LAMPS);
  expect(await denied("four")).toContain("anna said no");
});

test("three denials in more than ten minutes change nothing", async () => {
  await denied("one");
  await denied("two");
  await passUntil(T0 + 11 * MINUTE);
  await hosting(LAMPS);
  await denied("three");
  expect(await denied("four")).toContain("anna said no");
});

test("a person's no to what they asked for themselves does not count, but to their program's it does", async () => {
  for (const id of ["one", "two", "three", "four"])
    expect(await denied(id, TOKENS.owner)).toContain("was not approved");
  const program = (agent_id: string) =>
    mcpCall("edge_call", { agent_id, action: "set", params: { on: true } });
  for (const id of ["one", "two", "three"]) {
    await program(id);
    const question = await until(open, { what: "the question" });
    await ask(`/v1/questions/${question.id}`, { method: "POST", body: JSON.stringify({ answer: "deny" }) });
  }
  const refused = await program("four");
  expect(refused.content[0]?.text).toContain("people said no to 3 calls of a program of anna");
  expect(await denied("four", TOKENS.owner)).toContain("was not approved");
});

test("a repeat of what was denied is shown and sent to nobody", async () => {
  await denied("one");
  await passUntil(T0 + MINUTE);
  const before = servers.pushed.length;
  const turn = change("one");
  const { id } = await until(open, { what: "the repeat" });
  await passUntil(T0 + 9 * MINUTE);
  expect(servers.pushed.slice(before).filter(({ message }) => message.question === id)).toEqual([]);
  expect(await rowsOf(ruleHome(), "SELECT id FROM notice")).toEqual([]);
  await ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: "deny" }) });
  await turn;
});
