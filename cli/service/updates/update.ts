/** `edgecall agent update` and `edgecall bridge update` install another version: the gateway's, or a named one. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type CommandCall, EXIT, UsageError, type Work } from "../../command.ts";
import { Releases } from "../releases/releases.ts";
import { needInstalled, needRoot } from "../root-only.ts";
import { serviceState } from "../service-state.ts";
import { AGENT, BRIDGE, type Service, updateUnit } from "../services.ts";
import { installInto, updateFromGateway } from "./from-gateway.ts";
import { download, PROGRAM_MAX_BYTES } from "./gateway-program.ts";
import { isRunning } from "./trial.ts";
import { unattended } from "./unattended.ts";

export const updateAgent: Work = (call) => update(AGENT, call);
export const updateBridge: Work = (call) => update(BRIDGE, call);

async function update(service: Service, { positionals, text, flag, io }: CommandCall): Promise<number> {
  const [source, ...more] = positionals;
  if (more.length > 0) throw new UsageError("takes one FILE or URL, or none for the gateway's");
  if (source === undefined && text("sha256") !== undefined)
    throw new UsageError("--sha256: is for a FILE or URL; the gateway's program is signed");
  needRoot(service, "update");
  needInstalled(service);
  const releases = new Releases(service.places.programs);
  const say = (words: string) => io.err(`${words}\n`);
  if (flag("unattended")) {
    const { ok, text: words } = await unattended(service, releases, say);
    say(words);
    return ok ? EXIT.ok : EXIT.failed;
  }
  if (releases.onTrial || (await serviceState(updateUnit(service))).active === "activating")
    throw new Error("another version is on trial right now; wait until it is decided");
  const onTrial = !flag("no-trial") && (await isRunning(service));
  const how = { onTrial, say };
  const { ok, text: words } =
    source === undefined
      ? await updateFromGateway(service, releases, { ...how, older: flag("force"), failedBefore: true })
      : await installInto(service, releases, how, () => programFrom(source, text("sha256")));
  say(words);
  return ok ? EXIT.ok : EXIT.failed;
}

/** @throws with a text for a person */
async function programFrom(source: string, sha256: string | undefined): Promise<Buffer> {
  const isUrl = /^https?:\/\//.test(source);
  if (isUrl && sha256 === undefined) throw new UsageError("--sha256: needed with a URL");
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw new UsageError("--sha256: must be 64 digits of hex");
  }
  const bytes = isUrl ? await download(source, PROGRAM_MAX_BYTES) : await readFile(source);
  const is = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== undefined && is !== sha256.toLowerCase()) {
    throw new Error(`${source} is not what was asked for: its SHA-256 is ${is}; nothing was changed`);
  }
  return bytes;
}
