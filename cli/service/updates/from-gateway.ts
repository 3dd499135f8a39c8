/** Takes a version into use: the gateway's, or any other program. */
import type { ProgramFacts } from "@edgecall/core/protocol/program.ts";
import { ownNode } from "../releases/node-here.ts";
import type { Releases } from "../releases/releases.ts";
import type { Service } from "../services.ts";
import { type GatewayPin, pinnedGateway } from "./gateway-pin.ts";
import { fetchProgram, offeredBy } from "./gateway-program.ts";
import { mustBeOnline, type Result, tryOut, useUntried, versionOf } from "./trial.ts";

type How = {
  onTrial: boolean;
  say(words: string): void;
  /** The version was changed just now. */
  gatewayAnswers?: boolean;
};

export type FromGateway = How & {
  /** Accept a version that is older than the one in use. Only a person may ask for that. */
  older: boolean;
  /** Accept a version that did not come online before. */
  failedBefore: boolean;
  /** Called before anything is changed. */
  chosen?: (release: { to: string; before: string }) => Promise<void>;
};

/** @throws with a text for a person; then nothing was changed */
export async function updateFromGateway(
  service: Service,
  releases: Releases,
  { older, failedBefore, chosen, ...how }: FromGateway,
): Promise<Result> {
  const gateway = await pinnedGateway();
  const offered = await offeredBy(gateway);
  const to = releaseOf(offered);
  const before = (await releases.current()) ?? "";
  if (to === before) return { ok: true, text: `${to} is in use already` };
  if (!older && isOlder(offered.version, versionOf(before)))
    throw new Error(
      `the gateway has ${offered.version}, older than ${versionOf(before)}, which is in use: sudo edgecall ${service.name} update --force takes it all the same`,
    );
  if (!failedBefore && to === (await releases.rolledBack()))
    return { ok: true, text: `${to} is not tried again: it did not come online before` };
  await chosen?.({ to, before });
  return await installInto(service, releases, { ...how, gatewayAnswers: true }, () =>
    fetched(gateway, offered, how.say),
  );
}

async function fetched(gateway: GatewayPin, offered: ProgramFacts, say: How["say"]): Promise<Buffer> {
  say(`${offered.version} is fetched from ${gateway.url}`);
  return await fetchProgram(gateway, offered);
}

/** @throws with a text for a person; then nothing was changed */
export async function installInto(
  service: Service,
  releases: Releases,
  { onTrial, say, gatewayAnswers = false }: How,
  program: () => Promise<Buffer>,
): Promise<Result> {
  if (onTrial) mustBeOnline(service, { gatewayAnswers });
  const name = await releases.add(await program(), await ownNode());
  if (name === (await releases.current())) return { ok: true, text: `${name} is in use already` };
  if (!onTrial) return await useUntried(service, releases, name);
  say(`${name} is on trial`);
  return await tryOut(service, releases, name);
}

/** The name that Releases gives this program. */
function releaseOf({ version, sha256 }: ProgramFacts): string {
  return `${version}-${sha256.slice(0, 12)}`;
}

/** Compares versions by their numbers. A version without numbers is never older. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => text.split(".").map(Number);
  const [one, other] = [numbers(version), numbers(than)];
  const at = one.findIndex((number, index) => number !== other[index]);
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}
