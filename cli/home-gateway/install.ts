/**
 * `edgecall gateway install` makes this machine the home's gateway, from the unpacked archive or from npm's package, and
 * then its first device with bridge and broker. A second run mends or upgrades, and keeps settings, tokens and data.
 */

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readApi } from "@edgecall/core/loop/api.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT } from "@edgecall/node/places.ts";
import {
  copyBeforeUpgrade,
  describeCopy,
  isOlder,
  refuseNewer,
  type StateCopy,
} from "@edgecall/node/written-by.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { environmentText, readEnvironment } from "../service/environment-file.ts";
import { makeUser, writeSettings } from "../service/install.ts";
import { must, run } from "../service/programs.ts";
import { linkCommand } from "../service/releases/command-link.ts";
import { Releases } from "../service/releases/releases.ts";
import { needRoot, systemdVersion } from "../service/root-only.ts";
import { onlineWithin, serviceState } from "../service/service-state.ts";
import { BRIDGE, GATEWAY } from "../service/services.ts";
import { gatewayFolder, MARKS } from "./own-folder.ts";
import { unitText } from "./unit.ts";

const ONLINE_WITHIN_MS = 60_000;
const ASK_WITHIN_MS = 30_000;
const OPTIONS = ["host", "port", "model", "model-url", "model-api", "model-key-file"];

const Tokens = z.object({ api: z.string() });
const Code = z.looseObject({ code: z.string().check(z.regex(/^[A-Za-z0-9-]{6,100}$/)) });

export async function install(call: CommandCall): Promise<number> {
  const work = await mkdtemp(join(tmpdir(), "edgecall-"));
  try {
    return await installFrom(work, call);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @param work an empty folder */
async function installFrom(work: string, call: CommandCall): Promise<number> {
  const { flag, text, io } = call;
  needRoot(GATEWAY, "install");
  const systemd = await systemdVersion(GATEWAY);
  if (!existsSync("/usr/bin/perl"))
    throw new Error("perl is missing; the service needs it to start: apt install perl-base");
  const folder = await gatewayFolder(ROOT, work);
  const wanted = await wantedSettings(call);
  const { places, unit } = GATEWAY;
  const withHome = !flag("alone") && !existsSync(BRIDGE.places.unit);
  if (flag("dry-run")) {
    const settings = wanted === undefined ? "stay as they are" : "are written";
    const home = withHome ? "and then agent, bridge and broker on this machine" : "and nothing else";
    io.err(
      `would install from ${folder}:\n  settings  ${places.settings} ${settings}\n  programs  ${places.programs}\n  state     ${places.state}\n  service   ${unit}.service, ${home}\nnothing was changed\n`,
    );
    return EXIT.ok;
  }
  refuseNewer(places.state);
  const releases = new Releases(places.programs);
  await releases.prepare();
  const before = await releases.current();
  const version = await releases.addFolder(folder, MARKS, process.execPath);
  const isUpgrade = before !== undefined && before !== version;
  const copy = await keepOlderState(call);
  await makeUser(GATEWAY, [], io.err);
  if (wanted !== undefined) await writeSettings(GATEWAY, wanted, "root");
  // A new version that does not answer is replaced by the one before, with the state of then.
  await releases.use(version, {
    onTrial: isUpgrade,
    state: copy && { place: places.state, copy: copy.folder },
  });
  await releases.prune();
  await linkCommand();
  writeFileSync(places.unit, unitText({ systemd }), { mode: 0o644 });
  await must("systemctl", "daemon-reload");
  io.err(
    `installed ${version}\n  settings  ${places.settings}\n  state     ${places.state}\n  service   ${unit}.service\n`,
  );
  if (flag("no-start")) return EXIT.ok;
  await must("systemctl", "enable", "--quiet", unit);
  const started = await run("systemctl", ["restart", unit], { within: ONLINE_WITHIN_MS * 2 });
  if (isUpgrade && started.code !== 0 && (await onlineWithin(ONLINE_WITHIN_MS, GATEWAY))) {
    const kept = copy
      ? `, with its state as it was; what the new version wrote is beside ${places.state}, in …-newer`
      : "";
    io.err(`the new version did not start: back to ${await releases.current()}${kept}\n`);
    return EXIT.failed;
  }
  if (started.code !== 0 || !(await onlineWithin(ONLINE_WITHIN_MS, GATEWAY))) {
    const { result } = await serviceState(unit);
    io.err(`the gateway does not answer (${result}): sudo edgecall gateway doctor\n`);
    return EXIT.failed;
  }
  const url = `http://127.0.0.1:${portOf(await readFile(places.settings, "utf8"))}`;
  const token = ownerToken();
  io.err(
    `the gateway answers\n  console  ${url.replace("127.0.0.1", "localhost")}/\n  token    ${token}   (sudo cat ${places.state}/tokens.json shows it again)\n`,
  );
  if (!withHome) return EXIT.ok;
  return await joinHome(url, token, text("broker"), io.err);
}

/** As root and beside the state, where the service itself may not write. @returns the copy that was made */
async function keepOlderState({ env, io }: CommandCall): Promise<StateCopy | undefined> {
  const { places, unit } = GATEWAY;
  if (env.UPGRADE_COPY === "no" || !isOlder(places.state)) return undefined;
  // Programs may be gone, and the state of then be left.
  if (existsSync(places.unit)) await must("systemctl", "stop", unit);
  try {
    const copy = copyBeforeUpgrade(places.state);
    if (copy) io.err(`${describeCopy(places.state, copy)}\n`);
    return copy;
  } catch (error) {
    if (existsSync(places.unit)) await run("systemctl", ["start", unit]);
    throw error;
  }
}

/** Runs the gateway's own installer for the home's first machine: agent, bridge, and broker unless one is given. */
async function joinHome(
  url: string,
  token: string,
  broker: string | undefined,
  say: (text: string) => void,
): Promise<number> {
  const signal = AbortSignal.timeout(ASK_WITHIN_MS);
  const asked = await fetch(`${url}/v1/device-codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ agent: "@bridge" }),
    signal,
  });
  const made = check(Code, await asked.json());
  const script = await fetch(`${url}/install.sh`, { signal });
  if (!made.ok || !script.ok) throw new Error(`the gateway gave no code for this machine (${asked.status})`);
  const dir = await mkdtemp(join(tmpdir(), "edgecall-"));
  try {
    const file = join(dir, "install.sh");
    await writeFile(file, await script.text(), { mode: 0o600 });
    const words = [
      file,
      made.value.code,
      "--with-bridge",
      ...(broker === undefined ? [] : ["--broker", broker]),
    ];
    const child = spawn("/bin/sh", words, { stdio: ["ignore", "inherit", "inherit"] });
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 1));
    });
    if (code === 0) return EXIT.ok;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  say("the gateway runs, and this machine did not become its device; mend the above and run this again\n");
  return EXIT.failed;
}

/** @returns undefined when existing settings stay */
async function wantedSettings({ text }: CommandCall): Promise<string | undefined> {
  const { settings } = GATEWAY.places;
  const file = text("settings");
  const given = OPTIONS.filter((name) => text(name) !== undefined).map((name) => `--${name}`);
  if (file !== undefined) {
    if (given.length > 0)
      throw new UsageError(`--settings: give either a whole file or ${given.join(", ")}, not both`);
    const source = await readFile(file, "utf8");
    portOf(source);
    return source;
  }
  if (existsSync(settings)) {
    if (given.length === 0) return undefined;
    throw new UsageError(
      `${given.join(", ")}: ${settings} exists already: change it there, or give another file with --settings`,
    );
  }
  if (text("model-url") !== undefined && text("model") === undefined)
    throw new UsageError(
      "--model: not given, though --model-url is; give the name of the model to use there",
    );
  const api = text("model-api");
  if (api !== undefined && !readApi(api))
    throw new UsageError(`--model-api: expected openai or anthropic, got '${api}'`);
  const keyFile = text("model-key-file");
  const source = environmentText(
    `This home's gateway; docs/reference/settings.md has every variable. After a change: sudo systemctl restart ${GATEWAY.unit}`,
    {
      HOST: text("host"),
      PORT: text("port"),
      LLM_BASE_URL: text("model-url"),
      LLM_API: text("model-api"),
      LLM_MODEL: text("model"),
      LLM_API_KEY: keyFile === undefined ? undefined : (await readFile(keyFile, "utf8")).trim(),
    },
  );
  portOf(source);
  return source;
}

/** @throws UsageError */
export function portOf(settings: string): number {
  const { PORT = "8787" } = readEnvironment(settings);
  const port = Number(PORT);
  if (/^\d+$/.test(PORT) && port > 0 && port <= 65_535) return port;
  throw new UsageError(`PORT: expected a number from 1 to 65535, got '${PORT}'`);
}

function ownerToken(): string {
  const read = check(Tokens, JSON.parse(readFileSync(join(GATEWAY.places.state, "tokens.json"), "utf8")));
  if (!read.ok) throw new Error(`tokens.json: ${read.error}`);
  return read.value.api;
}
