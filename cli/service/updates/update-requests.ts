/**
 * Root's side of an update that the service asked for, or that the timer began: the request, and what came of it.
 *
 * The folder of the request is the service's, which may be anybody's by now. So nothing is taken from it but that an
 * update is wished, and the id of who asks; no link is followed, and nothing is waited for.
 */
import { readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { REQUEST_FILE, UPDATE_ID, UpdateOutcomes } from "@edgecall/node/systemd/update.ts";
import type { Service } from "../services.ts";
import { beginningOf } from "../their-file.ts";

/** One character more than an id has. */
const READ_BYTES = 37;

/** An id, or that there is none: then it is the timer's. */
export type Request = { id: string | undefined; isThere: boolean };

export async function readRequest({ places }: Service): Promise<Request> {
  const text = requested(join(places.state, REQUEST_FILE));
  return { id: text !== undefined && UPDATE_ID.test(text) ? text : undefined, isThere: text !== undefined };
}

/** @returns undefined: there is nothing; empty where it cannot be read */
function requested(path: string): string | undefined {
  try {
    return beginningOf(path, READ_BYTES);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "";
  }
}

/**
 * It was dealt with: the unit that looks for it would begin anew. A folder stays, and ends that unit by its limit: what is
 * in a folder could be made to lead elsewhere while it is taken away.
 */
export async function takeAway({ places }: Service): Promise<void> {
  await unlink(join(places.state, REQUEST_FILE)).catch(() => {});
}

export async function readOutcomes({ places }: Service): Promise<UpdateOutcomes> {
  const read = checkJson(UpdateOutcomes, await readFile(places.updates, "utf8").catch(() => "{}"));
  return read.ok ? read.value : {};
}

export type Noted = Omit<NonNullable<UpdateOutcomes["scheduled"]>, "at">;

/** @param id of the request; undefined: the timer's */
export async function noteOutcome(service: Service, id: string | undefined, noted: Noted): Promise<void> {
  const outcomes = await readOutcomes(service);
  const outcome = { ...noted, at: new Date().toISOString() };
  const next =
    id === undefined ? { ...outcomes, scheduled: outcome } : { ...outcomes, asked: { id, ...outcome } };
  await writeAtomic(service.places.updates, `${JSON.stringify(next)}\n`, { mode: 0o644 });
}
