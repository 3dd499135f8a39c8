/** A real device with three restored backups: an incomplete one, one with another gateway's key, and the right one. */
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall } from "./command.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi" });
  await stack.gateway.online("pi");
});

async function doctor() {
  const env = { EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner };
  const { out } = await edgecall(["doctor", "--json", "--no-model", "pi"], env);
  const findings = JSON.parse(out) as Array<{ link: string; is: string; says: string; todo?: string }>;
  return findings.filter(({ is }) => is === "wrong");
}

async function imported(file: string): Promise<Response> {
  return await stack.gateway.fetch("/v1/import?replace=yes", { method: "POST", body: file });
}

/** Waits until the bridge is back and has reported the agents. */
async function backOnline(): Promise<void> {
  await until(async () => (await stack.gateway.agent("pi").catch(() => undefined))?.online === true, {
    within: 30_000,
    what: "pi is online",
  });
}

test("G1 an incomplete backup changes nothing; the doctor sees one with another key; the right one repairs it", async () => {
  const file = await (await stack.gateway.fetch("/v1/export")).text();
  const keys = async () => await (await stack.gateway.fetch("/v1/keys")).json();
  const before = await keys();
  // The file may be short: the agent can be online a moment before its tools are stored.
  const refused = await imported(file.slice(0, file.length / 2));
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("this home is as it was");
  expect(await keys()).toEqual(before);
  expect(await doctor()).toEqual([]);

  const { publicKey, privateKey } = await newKeyPair();
  const lines = file
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { table?: string; row?: object; rows?: number; end?: boolean });
  const others = lines.filter(({ table }) => table !== "agent_key");
  const foreign = others.map((line) => {
    if (line.table === "gateway_key")
      return { ...line, row: { ...line.row, public_key: publicKey, private_key: privateKey } };
    return line.end ? { ...line, rows: (line.rows ?? 0) - (lines.length - others.length) } : line;
  });
  expect((await imported(foreign.map((line) => JSON.stringify(line)).join("\n"))).status).toBe(200);
  await backOnline();
  expect(await doctor()).toMatchObject([
    {
      link: "agent",
      says: expect.stringContaining("obeys its own gateway alone"),
      todo: expect.stringContaining("pair"),
    },
  ]);

  expect((await imported(file)).status).toBe(200);
  await backOnline();
  expect(await keys()).toEqual(before);
  await until(async () => (await doctor()).length === 0, {
    within: 30_000,
    what: "the doctor finds nothing wrong",
  });
}, 120_000);
