/**
 * An update without a person at this machine: the service asked for it, or the timer ran. A unit of root's makes it, and
 * leaves the outcome for the service to report. After a power cut in the middle it goes on.
 */

import { messageOf } from "@edgecall/node/log.ts";
import type { Releases } from "../releases/releases.ts";
import { onlineWithin } from "../service-state.ts";
import type { Service } from "../services.ts";
import { updateFromGateway } from "./from-gateway.ts";
import { decided, finishTrial, type Result } from "./trial.ts";
import { deleteRequest, noteOutcome, readOutcomes, readRequest } from "./update-requests.ts";

const ONLINE_WITHIN_MS = 60_000;

/** The request stays until the outcome is on disk: otherwise a power cut could lose both. */
export async function unattended(
  service: Service,
  releases: Releases,
  say: (words: string) => void,
): Promise<Result> {
  const { id, isThere } = await readRequest(service);
  const isScheduled = !isThere;
  let result: Result;
  try {
    // Nobody waits for a request that cannot be read.
    if (isThere && id === undefined)
      result = { ok: false, text: "the request cannot be read; nothing was done" };
    else result = await carriedOut(service, releases, { id, isScheduled, say });
  } catch (error) {
    result = { ok: false, text: messageOf(error) };
  }
  if (isScheduled || id !== undefined) await noteOutcome(service, id, { done: true, ...result });
  await deleteRequest(service);
  return result;
}

async function carriedOut(
  service: Service,
  releases: Releases,
  { id, isScheduled, say }: { id: string | undefined; isScheduled: boolean; say(words: string): void },
): Promise<Result> {
  const { asked } = await readOutcomes(service);
  const begun = id !== undefined && asked?.id === id ? asked : undefined;
  await finishTrial(service, releases);
  if (begun?.to !== undefined && (await isDecided(releases, begun.to)))
    return await decided(service, releases, { to: begun.to, before: begun.before });
  const underWay = { done: false, ok: false, text: "" };
  await noteOutcome(service, id, underWay);
  // After a power cut the service is started at the same time as this.
  await onlineWithin(ONLINE_WITHIN_MS, service);
  return await updateFromGateway(service, releases, {
    onTrial: true,
    say,
    older: false,
    failedBefore: !isScheduled,
    chosen: (release) => noteOutcome(service, id, { ...underWay, ...release }),
  });
}

/** True if the version was taken into use before the power cut: it is in use, or went back. */
async function isDecided(releases: Releases, to: string): Promise<boolean> {
  return (await releases.current()) === to || (await releases.rolledBack()) === to;
}
