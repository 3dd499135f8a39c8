/**
 * Takes a version into use, on trial until it was online once. systemd and a script (scripts.ts) run the trial, so it ends
 * well even if this process is killed or the power fails.
 */
import { setTimeout as pause } from "node:timers/promises";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import type { ServiceStatus } from "@edgecall/node/systemd/status.ts";
import { must, run } from "../programs.ts";
import type { Releases } from "../releases/releases.ts";
import { endedBy, serviceState, whatItSays } from "../service-state.ts";
import type { Service } from "../services.ts";

/** The new version's start may take the unit's TimeoutStartSec, and then the old version starts. */
const TRIAL_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 250;

/** `text` is for a person. */
export type Result = { ok: boolean; text: string };

/**
 * Refuses a trial while the service is offline, since a new version could not show that it comes online.
 * @param gatewayAnswers true: a bridge with its broker may be offline because the gateway refuses it as too old
 * @throws with a text for a person
 */
export function mustBeOnline(service: Service, { gatewayAnswers = false } = {}): void {
  const says = whatItSays(service);
  if (says.is === "read" && (says.status.online || (gatewayAnswers && hasBroker(says.status)))) return;
  const { name } = service;
  throw new Error(
    `the ${name} is not online now, so no version could show that it comes online: edgecall ${name} doctor; or --no-trial`,
  );
}

function hasBroker(status: ServiceStatus): boolean {
  return check(HasBroker, status).ok;
}
/** The problem that a bridge reports for itself. */
const HasBroker = z.looseObject({ broker: z.looseObject({ up: z.literal(true) }) });

export async function isRunning({ unit }: Service): Promise<boolean> {
  return (await serviceState(unit)).active === "active";
}

/** Takes a version into use without a trial. */
export async function useUntried({ unit }: Service, releases: Releases, name: string): Promise<Result> {
  const before = await releases.current();
  await releases.use(name, { onTrial: false });
  await must("systemctl", "try-restart", unit);
  return { ok: true, text: `${name} is in use, and was not tried; before it: ${before}` };
}

/** Takes a version into use on trial, and waits for the end of the trial. */
export async function tryOut(service: Service, releases: Releases, name: string): Promise<Result> {
  const before = await releases.current();
  await releases.use(name, { onTrial: true });
  await begin(service);
  return await decided(service, releases, { to: name, before });
}

async function begin({ unit }: Service): Promise<void> {
  await run("systemctl", ["restart", "--no-block", unit]);
}

/** Goes on with a trial that another process began, if there is one. */
export async function finishTrial(service: Service, releases: Releases): Promise<void> {
  const to = releases.onTrial ? await releases.current() : undefined;
  if (to === undefined) return;
  if (await releases.isTrialToBegin()) await begin(service);
  await decided(service, releases, { to, before: undefined });
}

/** Waits for the end of a trial; returns at once if there is none. */
export async function decided(
  { name, unit }: Service,
  releases: Releases,
  { to, before }: { to: string; before: string | undefined },
): Promise<Result> {
  // systemd knows how the new version ended until the version before is started again.
  let why: string | undefined;
  const end = performance.now() + TRIAL_WITHIN_MS;
  while (releases.onTrial) {
    why = (await endedBy(unit)) ?? why;
    if (performance.now() > end)
      return {
        ok: false,
        text: `the trial of ${to} is not over yet; sudo edgecall ${name} status tells how it goes on`,
      };
    await pause(LOOK_EVERY_MS);
  }
  const now = await releases.current();
  await releases.prune();
  const [new_, old] = releaseNames(to, now === to ? before : now);
  if (now === to)
    return { ok: true, text: `${new_} is online${old === undefined ? "" : `; before it ${old}`}` };
  const reason = why === undefined ? "" : `: ${why}`;
  return { ok: false, text: `${new_} did not come online; back to ${old}${reason} (journalctl -u ${unit})` };
}

/** The names of two versions for a person; if they are equal, with the bytes' hash. */
function releaseNames(one: string, other: string | undefined): [string, string | undefined] {
  if (other === undefined) return [versionOf(one), undefined];
  return versionOf(one) === versionOf(other) ? [one, other] : [versionOf(one), versionOf(other)];
}

/** @param release its name in Releases */
export function versionOf(release: string): string {
  return release.replace(/-[0-9a-f]{12}$/, "");
}
