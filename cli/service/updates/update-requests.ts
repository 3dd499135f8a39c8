/**
 * Root's side of an update that the service asked for, or that the timer began: the request and the outcome.
 *
 * The request's folder belongs to the service, which may be compromised. So only the request's existence and its id are used.
 * No link is followed, and nothing is waited for.
 */
import { readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { REQUEST_FILE, UPDATE_ID, UpdateOutcomes } from "@edgecall/node/systemd/update.ts";
import type { Service } from "../services.ts";
import { beginningOf } from "../their-file.ts";

/** One character more than an id, so that a longer text is noticed. */
const READ_BYTES = 37;

/** The id of a request; without one the timer began the update. */
export type Request = { id: string | undefined; isThere: boolean };

export async function readRequest({ places }: Service): Promise<Request> {
  const text = requested(join(places.state, REQUEST_FILE));
  return { id: text !== undefined && UPDATE_ID.test(text) ? text : undefined, isThere: text !== undefined };
}

/** @returns undefined when there is no request; an empty text when it cannot be read */
function requested(path: string): string | undefined {
  try {
    return beginningOf(path, READ_BYTES);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "";
  }
}

/**
 * Deletes a request that is done: otherwise the path unit would start again. A folder of that name is not deleted, since its
 * content could lead elsewhere meanwhile; the unit then ends by its start limit.
 */
export async function deleteRequest({ places }: Service): Promise<void> {
  await unlink(join(places.state, REQUEST_FILE)).catch(() => {});
}

export async function readOutcomes({ places }: Service): Promise<UpdateOutcomes> {
  const read = checkJson(UpdateOutcomes, await readFile(places.updates, "utf8").catch(() => "{}"));
  return read.ok ? read.value : {};
}

export type Noted = Omit<NonNullable<UpdateOutcomes["scheduled"]>, "at">;

/** @param id of the request; undefined: the timer began the update */
export async function noteOutcome(service: Service, id: string | undefined, noted: Noted): Promise<void> {
  const outcomes = await readOutcomes(service);
  const outcome = { ...noted, at: new Date().toISOString() };
  const next =
    id === undefined ? { ...outcomes, scheduled: outcome } : { ...outcomes, asked: { id, ...outcome } };
  await writeAtomic(service.places.updates, `${JSON.stringify(next)}\n`, { mode: 0o644 });
}
