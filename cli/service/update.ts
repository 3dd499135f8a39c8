/**
 * `edgecall agent update`, `edgecall bridge update`: another version in place of this one, on trial until it was online. The trial is systemd's
 * and a script's (scripts.ts), so it ends well also when this command is killed or the power goes.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { type CommandCall, EXIT, UsageError, type Work } from "../command.ts";
import { ownNode } from "./node-here.ts";
import { must, run } from "./programs.ts";
import { Releases } from "./releases.ts";
import { needInstalled, needRoot } from "./root-only.ts";
import { serviceState, whatItSays } from "./service-state.ts";
import { AGENT, BRIDGE, type Service } from "./services.ts";

/** An executable has some 130 MB; what has much more is none of ours. */
const PROGRAM_MAX_BYTES = 300 * 1024 * 1024;
const DOWNLOAD_WITHIN_MS = 15 * 60_000;
/** The new version's start may take the unit's TimeoutStartSec, and then the old one starts. */
const TRIAL_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 250;

export const updateAgent: Work = (call) => update(AGENT, call);
export const updateBridge: Work = (call) => update(BRIDGE, call);

async function update(service: Service, { positionals, text, flag, io }: CommandCall): Promise<number> {
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) throw new UsageError("takes one FILE or URL");
  needRoot(service, "update");
  needInstalled(service);
  const releases = new Releases(service.places.programs);
  if (releases.onTrial) throw new Error("another version is on trial right now; wait until it is decided");
  const onTrial = !flag("no-trial") && (await isRunning(service));
  if (onTrial) mustBeOnline(service);

  const name = await releases.add(await programFrom(source, text("sha256")), await ownNode());
  const before = await releases.current();
  if (name === before) {
    io.err(`${name} is in use already\n`);
    return EXIT.ok;
  }
  await releases.use(name, { onTrial });
  if (!onTrial) {
    await must("systemctl", "try-restart", service.unit);
    io.err(`${name} is in use, and was not tried; before it: ${before}\n`);
    return EXIT.ok;
  }
  io.err(`${name} is on trial\n`);
  await run("systemctl", ["restart", "--no-block", service.unit]);
  if ((await decided(service, releases)) === name) return passed(releases, name, io);
  return failed(service, releases, name, io);
}

async function isRunning({ unit }: Service): Promise<boolean> {
  return (await serviceState(unit)).active === "active";
}

/** Offline already, a new version could not show that it comes online. */
function mustBeOnline(service: Service): void {
  const says = whatItSays(service);
  if (says.is === "read" && says.status.online) return;
  const { name } = service;
  throw new Error(
    `the ${name} is not online now, so no version could show that it comes online: edgecall ${name} doctor; or --no-trial`,
  );
}

/** @returns the version that is in use when the trial is over */
async function decided({ name }: Service, releases: Releases): Promise<string | undefined> {
  for (const end = performance.now() + TRIAL_WITHIN_MS; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    if (!releases.onTrial) return await releases.current();
  }
  throw new Error(`the trial is not over yet; edgecall ${name} status tells how it goes on`);
}

async function passed(releases: Releases, name: string, io: CommandCall["io"]): Promise<number> {
  await releases.prune();
  io.err(`${name} is online; the version before it is kept\n`);
  return EXIT.ok;
}

async function failed(
  { unit }: Service,
  releases: Releases,
  name: string,
  io: CommandCall["io"],
): Promise<number> {
  await releases.prune();
  const now = await releases.current();
  io.err(`${name} did not come online; back to ${now}. Why: journalctl -u ${unit}\n`);
  return EXIT.failed;
}

/** @throws in words for a person */
async function programFrom(source: string, sha256: string | undefined): Promise<Buffer> {
  const isUrl = /^https?:\/\//.test(source);
  if (isUrl && sha256 === undefined) throw new UsageError("--sha256: needed with a URL");
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw new UsageError("--sha256: must be 64 digits of hex");
  }
  const bytes = isUrl ? await download(source) : await readFile(source);
  const is = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== undefined && is !== sha256.toLowerCase()) {
    throw new Error(`${source} is not what was asked for: its SHA-256 is ${is}; nothing was changed`);
  }
  return bytes;
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_WITHIN_MS) });
  if (!response.ok || !response.body) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > PROGRAM_MAX_BYTES)
      throw new Error(`${url}: more than ${PROGRAM_MAX_BYTES} bytes; this is no edgecall`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
