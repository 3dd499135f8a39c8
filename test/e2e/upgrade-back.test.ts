/** The way back from an upgrade: what this version keeps of 0.4.0 runs under the programs of 0.4.0. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { expect, test } from "vitest";
import { startWorker } from "../../local/gateway.ts";
import { keptWorker } from "../kept/programs.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { edgecall } from "./command.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { type KeptHome, useKeptHome } from "./kept-home.ts";
import { npmStart } from "./npm-start.ts";

const home = useKeptHome("0.4.0", (home) => home.start());
const tags = ["needs/linux"];

const versionOf = async (gateway: GatewayClient) =>
  ((await (await gateway.fetch("/v1/status")).json()) as { version: string }).version;
const rulesOf = async (gateway: GatewayClient) =>
  ((await (await gateway.fetch("/v1/rules")).json()) as { rules: object[] }).rules;

/** The two commands that a person reads. */
function wayBack({ err }: KeptHome): string {
  return /The way back: stop edgecall, and `([^`]+)`, then start edgecall 0\.4\.0/.exec(err)?.[1] ?? "";
}

test("the upgrade names a copy, and the way back", { tags }, async () => {
  expect(home().err).toContain(`was edgecall 0.4.0's and becomes ${VERSION}'s`);
  expect(wayBack(home())).toMatch(/^mv \S+ \S+-newer && mv \S+-0\.4\.0-\d{4}-\d\d-\d\d \S+$/);
  expect(home().read("home/version")).toBe(`${VERSION}\n`);
  await home().gateway.online("eye", 60_000);
  expect((await home().gateway.ask("How much memory is in use on eye?", "kept")).answer).toMatch(
    /^eye, memory/,
  );
  expect(await home().gateway.turns("kept")).toHaveLength(3);
});

test("a second start copies nothing", { tags }, async () => {
  const back = wayBack(home());
  await home().pause();
  await home().start();
  expect(home().err).not.toContain("The way back");
  expect(await home().gateway.turns("kept")).toHaveLength(3);
  await home().pause();
  // What the person does.
  execFileSync("/bin/sh", ["-ec", back]);
});

test("0.4.0 finds its home as it was: token, conversations, rules, the device that was put back, too", {
  tags,
}, async () => {
  await home().asOfThen(async (gateway, startEye) => {
    expect(await versionOf(gateway)).toBe("0.4.0");
    // The turns of the meantime are lost.
    expect(await gateway.turns("kept")).toHaveLength(2);
    expect(await rulesOf(gateway)).toHaveLength(2);
    const headers = { authorization: `Bearer ${home().kept.tablet}` };
    expect((await fetch(`${gateway.url}/v1/conversations`, { headers })).status).toBe(200);
    startEye();
    await gateway.online("eye", 60_000);
    expect(await gateway.agent("eye")).toMatchObject({ version: "0.4.0", online: true });
    expect((await gateway.command("eye", "ping")).status).toBe(200);
  });
});

test("and it can be upgraded again", { tags }, async () => {
  await home().start();
  expect(wayBack(home())).not.toBe("");
  expect(await home().gateway.turns("kept")).toHaveLength(2);
  await home().pause();
});

test("O12: an edgecall that is older than the folder does not start, and names both versions and the way back", {
  tags,
}, async () => {
  const next = VERSION.replace(/\.(\d+)\.\d+$/, (_, minor) => `.${Number(minor) + 1}.0`);
  writeFileSync(join(home().folder, "home/version"), `${next}\n`);
  const started = npmStart(join(home().folder, "home"));
  expect(await started.code).toBe(1);
  expect(started.err()).toContain(`was written by edgecall ${next}, and this is edgecall ${VERSION}`);
  expect(started.err()).toMatch(
    /Install edgecall \S+ or later, or go back to what edgecall 0\.4\.0 wrote: `mv /,
  );
});

test("on Cloudflare: `edgecall export` of 0.4.0 is whole, and a new gateway of 0.4.0 reads it", {
  tags,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-export-"));
  const file = join(dir, "home.jsonl");
  const worker = async (name: string) =>
    await startWorker({
      ...keptWorker("0.4.0"),
      port: 0,
      dir: join(dir, name),
      vars: { ...testVars, LLM_MODEL: "none" },
    });
  const asOwner = { headers: { authorization: `Bearer ${TOKENS.owner}` } };
  const first = await worker("first");
  const texts = async (url: string) => {
    const response = await fetch(`${url}/v1/conversations/kept`, asOwner);
    return ((await response.json()) as { turns: Array<{ text: string }> }).turns.map(({ text }) => text);
  };
  try {
    const body = JSON.stringify({ text: "hello" });
    const headers = { ...asOwner.headers, "content-type": "application/json" };
    await fetch(`${first.url}/v1/conversations/kept/messages`, { method: "POST", headers, body });
    const env = { EDGECALL_URL: first.url, EDGECALL_TOKEN: TOKENS.owner };
    const made = await edgecall(["export", file], env);
    expect(made, made.err).toMatchObject({ code: 0, out: "" });
    expect(made.err).toMatch(/^\S+home\.jsonl: whole, \d+ rows\./);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // A token that may not: no file.
    const guest = await edgecall(["export", join(dir, "no")], { ...env, EDGECALL_TOKEN: TOKENS.guest });
    expect(guest).toMatchObject({ code: 1, err: expect.stringContaining("use a token that may do this") });
  } finally {
    await first.stop();
  }
  const second = await worker("second");
  try {
    const put = await fetch(`${second.url}/v1/import?replace=yes`, {
      method: "POST",
      ...asOwner,
      body: readFileSync(file),
    });
    expect(put.status, await put.text()).toBe(200);
    expect(await texts(second.url)).toEqual(["hello"]);
  } finally {
    await second.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});
