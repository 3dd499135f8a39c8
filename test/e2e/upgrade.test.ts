/** A home of the previous version, as its programs left it, with today's programs and without manual steps. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { startEdgecall } from "./command.ts";
import { interrupt, npmStart, running, useStateFolder } from "./npm-start.ts";

const KEPT = fileURLToPath(new URL("../kept/0.2.0/home.tar.gz", import.meta.url));
/** Its former folder, and its broker's port. */
const WAS = { folder: "/tmp/h020", broker: "39075" };

const folder = useStateFolder();

test("a home of 0.2.0 upgrades without a manual step: token, conversations, questions, device", {
  tags: ["needs/linux"],
  timeout: 120_000,
}, async () => {
  execFileSync("tar", ["-C", folder.path, "-xzf", KEPT]);
  const at = (path: string) => join(folder.path, path);
  // The folder and the broker's port of this run replace them.
  const broker = String(await freePort());
  const key = readFileSync(at("eye/state/key.json"), "utf8");
  const settings = readFileSync(at("eye/agent.toml"), "utf8");
  writeFileSync(
    at("eye/agent.toml"),
    settings.replaceAll(WAS.folder, folder.path).replace(WAS.broker, broker),
  );
  writeFileSync(
    at("home/broker-port"),
    readFileSync(at("home/broker-port"), "utf8").replace(WAS.broker, broker),
  );

  const stack = npmStart(at("home"), [], { PORT: String(await freePort()) });
  const eye = startEdgecall(["agent", "run", "--config", at("eye/agent.toml")], {});
  try {
    const client = await running(stack);
    const { api } = JSON.parse(readFileSync(at("home/tokens.json"), "utf8")) as { api: string };
    expect(stack.out()).toContain(api);

    const before = await client.turns("kept");
    expect(before.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(before.map(({ answer }) => answer)).toEqual([
      expect.stringContaining("RAM 15% used"),
      expect.stringContaining("RAM 10% used"),
    ]);
    // The waiting turn ends, because its question has expired.
    const ended = () =>
      client.turns("waiting").then((turns) => turns.every(({ status }) => status !== "running"));
    await until(ended, { within: 60_000, every: 200, what: "the turn that waited ends" });

    await client.online("eye", 60_000);
    expect(await client.agent("eye")).toMatchObject({ version: VERSION, online: true });
    expect((await client.command("eye", "ping")).status).toBe(200);
    expect((await client.ask("How much memory is in use on eye?", "kept")).answer).toContain("RAM");
    expect(await client.turns("kept")).toHaveLength(3);
    expect(readFileSync(at("eye/state/key.json"), "utf8")).toBe(key);
  } finally {
    eye.signal("SIGTERM");
    await eye.ended;
    interrupt(stack);
    await stack.code;
  }
});
