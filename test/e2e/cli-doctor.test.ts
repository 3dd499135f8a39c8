/** `edgecall doctor` with links that are really broken, one after another. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { enrol } from "../../local/enrol.ts";
import { freePort } from "../../local/port.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall } from "./command.ts";
import { useStack } from "./stack.ts";

type Finding = { link: string; is: string; says: string; todo?: string };

/** The model's endpoint. It can refuse; otherwise it passes requests to the stack's model. */
let refuses = false;
const door = createServer(async (request, response) => {
  if (refuses) {
    response.writeHead(401).end('{"error":{"message":"no credit left"}}');
    return;
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  const answer = await fetch(stack.model.url + (request.url ?? ""), { method: "POST", body });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
  response.end(await answer.text());
});
await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
afterAll(() => void door.close());
const vars = { LLM_BASE_URL: `http://127.0.0.1:${(door.address() as AddressInfo).port}` };

const stack = useStack({ vars }, async (stack) => {
  await stack.startAgent({ id: "pi" });
  await stack.startAgent({ id: "zero" });
  await stack.gateway.online("pi");
  await stack.gateway.online("zero");
});

async function examine(args: string[] = [], env: Record<string, string> = {}) {
  const here = { EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner, ...env };
  const { code, out } = await edgecall(["doctor", "--json", ...args], here);
  const findings = JSON.parse(out) as Finding[];
  return { code, findings, wrong: findings.filter(({ is }) => is === "wrong") };
}

const of = (name: string, findings: Finding[]) => findings.filter(({ link }) => link === name);

test("nothing is broken: every link was checked, and no conversation is left behind", async () => {
  const { code, findings } = await examine();
  expect(findings.map(({ link, is }) => `${link} ${is}`)).toEqual([
    ...["settings fine", "gateway fine", "token fine", "bridge fine", "broker fine"],
    ...["agent fine", "agent fine", "sign-in fine", "model fine"],
  ]);
  expect(findings[5]?.says).toMatch(/^pi answers a ping in \d+ ms$/);
  expect(code).toBe(0);
  const list = (await (await stack.gateway.fetch("/v1/conversations")).json()) as {
    conversations: unknown[];
  };
  expect(list.conversations).toEqual([]);
});

test("a wrong token", async () => {
  const { code, wrong } = await examine([], { EDGECALL_TOKEN: "not-a-token-of-this-gateway" });
  expect(wrong.map(({ link }) => link)).toEqual(["token"]);
  expect(wrong[0]?.todo).toContain("edgecall login");
  expect(code).toBe(1);
});

test("a token that may only ask: checks that it may not make are skipped, and are no fault", async () => {
  const { code, findings } = await examine(["pi", "--no-model"], { EDGECALL_TOKEN: TOKENS.guest });
  expect(of("agent", findings)).toEqual([
    {
      ...{ link: "agent", is: "left" },
      says: "pi is online; this token may not ping it (scope command)",
    },
  ]);
  expect(code).toBe(0);
});

test("an address where nothing listens", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { wrong } = await examine([], { EDGECALL_URL: url });
  expect(wrong).toMatchObject([{ link: "gateway", says: expect.stringContaining("nothing listens there") }]);
});

test("a model that refuses", async () => {
  refuses = true;
  const { wrong } = await examine().finally(() => {
    refuses = false;
  });
  expect(wrong).toMatchObject([{ link: "model", todo: expect.stringContaining("LLM_API_KEY") }]);
});

test("an agent that is off is mentioned, and is a fault only when the person named it", async () => {
  await stack.agent("zero").stop();
  await stack.gateway.offline("zero");
  const all = await examine(["--no-model"]);
  expect(of("agent", all.findings)).toMatchObject([
    { link: "agent", is: "fine" },
    { link: "agent", is: "left", says: expect.stringMatching(/^zero is offline: .*; last seen \d+ s ago$/) },
  ]);
  expect(all.code).toBe(0);
  const one = await examine(["zero", "--no-model"]);
  expect(one.wrong).toMatchObject([{ link: "agent", todo: expect.stringContaining("agent doctor") }]);
  expect(one.code).toBe(1);
  // The other agents are known through the broker.
  expect(one.findings.find(({ link }) => link === "broker")).toMatchObject({ is: "fine" });
  const nobody = await examine(["nobody", "--no-model"]);
  expect(nobody.wrong[0]?.says).toBe("this home knows no nobody");
  expect(nobody.findings.find(({ link }) => link === "broker")).toMatchObject({ is: "fine" });
  // Its key exists here, and its program has not connected yet.
  const stateDir = join(stack.workspaceOf("pi"), "silent");
  await enrol({ url: stack.gateway.url, token: TOKENS.owner, agentId: "silent", stateDir });
  expect((await examine(["silent", "--no-model"])).wrong[0]).toMatchObject({
    says: "silent has its key, and was never online",
    todo: expect.stringContaining("agent doctor"),
  });
});

test("an agent whose key was revoked is reported, although no list of agents shows the reason", async () => {
  const revoked = await stack.gateway.fetch("/v1/agents/zero/key", { method: "DELETE" });
  expect(revoked.ok).toBe(true);
  const { findings } = await examine(["--no-model"]);
  expect(of("key", findings)).toMatchObject([
    { is: "left", says: "zero had its key revoked, so nothing that it says counts" },
  ]);
  expect((await examine(["zero", "--no-model"])).wrong.map(({ link }) => link)).toContain("key");
});

test("a hanging agent does not answer its ping, and no check waits long", async () => {
  stack.agent("pi").signal("SIGSTOP");
  try {
    const { wrong } = await examine(["pi", "--no-model"]);
    expect(wrong).toMatchObject([{ link: "agent", says: expect.stringContaining("does not answer a ping") }]);
  } finally {
    stack.agent("pi").signal("SIGCONT");
  }
});

test("a broker that is down", async () => {
  await stack.stopBroker();
  await until(async () => (await stack.gateway.agent("pi"))?.reason === "the broker is not reachable", {
    within: 20_000,
    what: "the bridge tells that its broker is gone",
  });
  const { wrong } = await examine(["--no-model"]);
  expect(wrong[0]).toMatchObject({
    link: "broker",
    says: expect.stringMatching(/^the bridge does not reach the broker mqtt:/),
  });
  expect(wrong.find(({ says }) => says.startsWith("pi "))?.todo).toBe("see broker, above");
});

test("a bridge that is down", async () => {
  await stack.bridge.kill();
  await stack.gateway.offline("pi");
  const { wrong, code } = await examine(["--no-model"]);
  expect(wrong).toMatchObject([
    { link: "bridge", says: expect.stringMatching(/^e2e is not connected, last/) },
  ]);
  expect(code).toBe(1);
});

test("a gateway that is down", async () => {
  await stack.worker.kill();
  expect((await examine()).wrong).toMatchObject([{ link: "gateway" }]);
});
