/** `GET /v1/agents` in a home of many agents: pages, search, filters, and what one page costs. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TOKENS } from "../../../test/tokens.ts";
import { agent, ask, TestBridge } from "../../../test/workerd.ts";
import type { AgentPage } from "../api/agent-list.ts";

const COUNT = 1_000;
const idOf = (n: number) => `node-${String(n).padStart(4, "0")}`;

async function page(query = "", token = TOKENS.owner): Promise<AgentPage> {
  const response = await ask(`/v1/agents${query}`, { token });
  expect(response.status, query).toBe(200);
  return await response.json();
}

async function connect(count: number): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello();
  const agents = Array.from({ length: count }, (_, n) =>
    agent(idOf(n), {
      line: n % 10 === 0 ? `Greenhouse ${n}: soil and light` : `Lamp ${n}`,
      ...(n % 4 === 3 && { online: false, reason: "it is off" }),
    }),
  );
  for (let from = 0; from < count; from += 100)
    bridge.send({ t: "snapshot", agents: agents.slice(from, from + 100), last: from + 100 >= count });
  await bridge.snapshotStored();
  return bridge;
}

beforeEach(async () => {
  await connect(COUNT);
});
afterEach(async () => await reset());

test("a client that knows no pages gets the first 500; whoever follows next gets each agent once, in order", async () => {
  const first = await page();
  expect(first).toMatchObject({ next: idOf(499), total: COUNT, online: 750 });
  expect(first.agents).toHaveLength(500);
  const ids: string[] = [];
  let after = "";
  for (let pages = 0; pages < 20; pages += 1) {
    const { agents, next } = await page(`?limit=70${after}`);
    ids.push(...agents.map(({ id }) => id));
    if (next === null) break;
    after = `&after=${next}`;
  }
  expect(ids).toEqual(Array.from({ length: COUNT }, (_, n) => idOf(n)));
  // No such agent, but its place in the order is known.
  expect((await page("?limit=1&after=node-0004-b")).agents).toMatchObject([{ id: idOf(5) }]);
  expect((await page(`?after=${idOf(COUNT - 1)}`)).agents).toEqual([]);
});

test("words are looked for in ids and lines, and filters keep those online or offline", async () => {
  const green = await page("?q=GREENHOUSE%20soil&limit=60");
  expect(green).toMatchObject({ total: 100, next: idOf(590) });
  expect(green.agents[1]).toMatchObject({ id: idOf(10), capabilities: "Greenhouse 10: soil and light" });
  const rest = await page(`?q=GREENHOUSE%20soil&limit=60&after=${green.next}`);
  expect(rest.agents.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, n) => idOf(600 + 10 * n)));
  expect(rest.next).toBeNull();
  expect((await page("?q=node-0007")).agents).toMatchObject([{ id: idOf(7), online: false }]);
  // No id and no line says it: then they are found by what the words mean.
  const meant = await page("?q=a%20hothouse%20with%20soil&limit=30");
  expect(meant.total).toBe(50);
  const last = await page(`?q=a%20hothouse%20with%20soil&limit=30&after=${meant.next}`);
  const lines = [...meant.agents, ...last.agents].map(({ capabilities }) => capabilities);
  expect(lines).toHaveLength(50);
  for (const line of lines) expect(line).toContain("Greenhouse");
  expect(last.next).toBeNull();
  const off = await page("?online=no&limit=3");
  expect(off).toMatchObject({ total: 250, online: 0, agents: [3, 7, 11].map((n) => ({ id: idOf(n) })) });
  expect(await page("?online=yes&limit=1")).toMatchObject({ total: 750, online: 750 });
  // None of them is a device of the broker.
  expect(await page("?hosted=no&limit=1")).toMatchObject({ total: 1_000 });
  expect(await page("?hosted=yes")).toMatchObject({ total: 0, agents: [] });
  expect(await page("?q=nothing-has-this")).toMatchObject({ total: 0, agents: [], next: null });
});

test("a wrong query is told; a place that is gone from a search is no silent end", async () => {
  for (const query of [
    "limit=0",
    "limit=1001",
    "online=maybe",
    "hosted=maybe",
    `q=${"x".repeat(201)}`,
    "after=a%20b",
  ])
    expect((await ask(`/v1/agents?${query}`)).status, query).toBe(400);
  const gone = await ask(`/v1/agents?q=hothouse&after=${idOf(1)}`);
  expect(gone.status).toBe(400);
  expect(await gone.text()).toContain("begin with its first page");
});

test("one agent of many", async () => {
  expect(await (await ask(`/v1/agents/${idOf(42)}`)).json()).toMatchObject({ id: idOf(42), online: true });
  expect((await ask("/v1/agents/nobody")).status).toBe(404);
});
