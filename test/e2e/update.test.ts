/**
 * Agent and bridge are told to update themselves over the running stack: from a chat and from the command line; and
 * what the gateway says about its program. The test plays root's part; update-service.test.ts has it on a real systemd.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UpdateOutcomes } from "@edgecall/node/systemd/update.ts";
import { afterAll, expect, test } from "vitest";
import { fetchProgram, offeredBy } from "../../cli/service/updates/gateway-program.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall, startEdgecall } from "./command.ts";
import { action } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-update-e2e-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const updates = (name: string) => join(folder, `${name}-updates.json`);
const state = (name: string) => join(folder, name);
const env = (name: string) => ({ STATE_DIRECTORY: state(name), EDGECALL_UPDATES: updates(name) });

const stack = useStack({ bridge: { ...env("bridge"), STATE_DIRECTORY: folder } }, async (stack) => {
  await stack.startAgent({ id: "pi", env: env("pi"), top: { state_dir: state("pi") } });
  await stack.gateway.online("pi");
});
const cli = () => ({ EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner, HOME: folder });

/** Root's part: takes the request and reports that. @returns the request's id */
async function taken(name: string, request: string): Promise<string> {
  await until(() => existsSync(request), { within: 20_000, what: `the request of ${name}` });
  const id = readFileSync(request, "utf8");
  tell(name, { asked: { id, done: false, ok: false, text: "", at: "now" } });
  rmSync(request);
  return id;
}
const tell = (name: string, outcomes: UpdateOutcomes) =>
  writeFileSync(updates(name), JSON.stringify(outcomes));
const decided = (name: string, id: string, ok: boolean, text: string) =>
  tell(name, { asked: { id, done: true, ok, text, at: "now" } });

test("requested in a chat and approved: the new agent reports to the conversation", async () => {
  const conversation = crypto.randomUUID();
  const question = script(action("pi", "update_self"), { text: "it has begun" }, { text: "now: $notes" });
  const turn = stack.gateway.ask(question, conversation);
  const { id: approval } = await stack.gateway.question(conversation);
  expect(await stack.gateway.answer(approval, "approve")).toBe(200);
  expect((await turn).answer).toBe("it has begun");
  const id = await taken("pi", join(state("pi"), "update-request"));
  await stack.agent("pi").stop();
  await stack.restartAgent("pi");
  await stack.gateway.online("pi");
  decided("pi", id, true, "0.2.0 is online; before it 0.1.0");
  const later = async () =>
    (await stack.gateway.turns(conversation)).find(({ answer }) => answer?.startsWith("now: "));
  const { answer } = await until(later, { within: 20_000, what: "the turn of the job's result" });
  expect(answer).toContain("0.2.0 is online; before it 0.1.0");
}, 90_000);

test("from the command line: approved elsewhere, and the command reports the result", async () => {
  const command = startEdgecall(["update", "pi"], cli());
  const asked = async () => {
    const { questions } = (await (await stack.gateway.fetch("/v1/questions")).json()) as {
      questions: Array<{ id: string; answer?: string; approval?: { tool: string } }>;
    };
    return questions.find(({ approval, answer }) => approval?.tool === "update_self" && answer === undefined);
  };
  const { id: approval } = await until(asked, { within: 20_000, what: "the approval" });
  await until(() => command.err.includes("asks whether it may"), { within: 20_000, what: "the hint" });
  await stack.gateway.answer(approval, "approve");
  const id = await taken("pi", join(state("pi"), "update-request"));
  await stack.agent("pi").kill();
  decided("pi", id, false, "0.2.0 did not come online; back to 0.1.0: it hung");
  await stack.restartAgent("pi");
  const { code, out, err } = await command.ended;
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("0.2.0 did not come online; back to 0.1.0: it hung");
}, 90_000);

test("the bridge too, with its own restart in between", async () => {
  const command = startEdgecall(["update", "bridge", "--json"], cli());
  const id = await taken("bridge", join(folder, "update-request"));
  await stack.bridge.stop();
  decided("bridge", id, true, "0.2.0 is online; before it 0.1.0");
  await stack.startBridge();
  const { code, out } = await command.ended;
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ name: "bridge", ok: true, text: "0.2.0 is online; before it 0.1.0" });
  await stack.gateway.online("pi");
}, 90_000);

test("without a name it lists the versions of all programs", async () => {
  const { code, out } = await edgecall(["update", "--json"], cli());
  expect(code).toBe(0);
  const { gateway, programs } = JSON.parse(out);
  expect(gateway).toMatch(/^\d+\.\d+\.\d+$/);
  expect(programs).toMatchObject([
    { name: "bridge", version: gateway, online: true, can: true },
    { name: "pi", version: gateway, online: true, can: true },
  ]);
});

test("an update that cannot be requested remotely is refused in words, and the device gets no request", async () => {
  await stack.startAgent({ id: "plain" });
  await stack.gateway.online("plain");
  const { code, err } = await edgecall(["update", "plain"], cli());
  expect(code).toBe(1);
  expect(err).toContain("plain cannot be updated from here. Update it where it runs");
  const unknown = await edgecall(["update", "nobody"], cli());
  expect(unknown.err).toContain("`edgecall agents` lists those that there are");
}, 60_000);

test("the gateway signs exactly the program that it serves, for paired devices", async () => {
  const { gateway } = (await (await stack.gateway.fetch("/v1/keys")).json()) as {
    gateway: { public_key: string };
  };
  const pin = { url: stack.gateway.url, home: "a", public_key: gateway.public_key };
  const offered = await offeredBy(pin);
  const program = await fetchProgram(pin, offered);
  expect(program.toString("utf8").slice(0, 20)).toMatch(/^#!|^"use|^const/);
  await expect(offeredBy({ ...pin, home: "b" })).rejects.toThrow("no home of this gateway has this key");
}, 60_000);
