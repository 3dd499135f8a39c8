/**
 * Lets a service update itself, though it may not write its own program. It leaves a request in its state folder. A unit
 * of root's sees it (docs/explain/services.md) and writes the outcome to a file that the service can only read. The service is
 * restarted meanwhile, so the outcome is reported by the program that runs then: the new one, or the one before.
 */
import { readFile, rm } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "../atomic-write.ts";

/** A file in the service's STATE_DIRECTORY with the id of the request. It is deleted when the request is done. */
export const REQUEST_FILE = "update-request";
/** The variable of a service that can be updated so. It has the path of the file with the outcomes. */
export const OUTCOMES_VARIABLE = "EDGECALL_UPDATES";
/** The form of a request's id. Root copies the id to another file, so nothing else is accepted. */
export const UPDATE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const OUTCOME = {
  /** True once the outcome is known; until then `text` is empty. */
  done: z.boolean(),
  ok: z.boolean(),
  /** For a person. */
  text: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** The new version and the one that was in use, once they are known. An update that a power cut stopped goes on with them. */
  to: z.optional(z.string()),
  before: z.optional(z.string()),
};

/** The two kinds have a field each, so that none hides the other. */
export const UpdateOutcomes = z.object({
  /** The last update that was asked for. */
  asked: z.optional(z.object({ id: z.string(), ...OUTCOME })),
  /** The last update by the timer. */
  scheduled: z.optional(z.object(OUTCOME)),
});
export type UpdateOutcomes = z.infer<typeof UpdateOutcomes>;

/**
 * The files by which a service updates itself; undefined where nothing would read them.
 * @param env of the service: the unit that sets the variable is installed together with the one that reads the request
 */
export function updateFiles(env: Readonly<Record<string, string | undefined>>): UpdateFiles | undefined {
  const { [OUTCOMES_VARIABLE]: outcomes, STATE_DIRECTORY: state } = env;
  if (!outcomes || !state) return undefined;
  const request = `${state}/${REQUEST_FILE}`;
  return {
    request: () => readText(request),
    ask: (id) => writeAtomic(request, id),
    withdraw: () => rm(request, { force: true }),
    outcomes: () => readText(outcomes),
  };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A service's own view of the two files. Each function may throw the system's error. */
export type UpdateFiles = {
  /** @returns undefined when there is no request */
  request(): Promise<string | undefined>;
  ask(id: string): Promise<unknown>;
  withdraw(): Promise<unknown>;
  /** @returns undefined when there is no outcome yet */
  outcomes(): Promise<string | undefined>;
};

/** Longer than a download over a slow line and a trial together. */
export const UPDATE_WITHIN_MS = 30 * 60_000;
/** systemd sees a request at once, unless the unit is busy with the timer's update; then it sees the request after that. */
const TAKEN_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 500;

/**
 * Asks for an update, or goes on waiting for one that an earlier process asked for.
 * @returns the outcome
 * @throws the signal's reason, or the system's error with the files
 */
export async function updated(
  id: string,
  files: UpdateFiles,
  { signal, again }: { signal: AbortSignal; again: boolean },
): Promise<{ ok: boolean; text: string }> {
  if (!again) await files.ask(id);
  const began = performance.now();
  let takenBy = began + TAKEN_WITHIN_MS;
  for (;;) {
    // The request is read before the outcomes, since it is deleted after the outcome was written.
    const request = await files.request();
    const { asked, scheduled } = await outcomesIn(files);
    if (asked?.id === id && asked.done) return { ok: asked.ok, text: asked.text };
    const now = performance.now();
    if (asked?.id !== id) {
      if (request !== id) return failed("the request was lost; ask again");
      if (scheduled?.done === false) takenBy = now + TAKEN_WITHIN_MS;
      if (now > takenBy) {
        await files.withdraw();
        return failed("nothing on this machine takes the request: is its update unit (.path) running?");
      }
    }
    if (now - began > UPDATE_WITHIN_MS)
      return failed(`nothing came of it within ${UPDATE_WITHIN_MS / 60_000} minutes`);
    await pause(LOOK_EVERY_MS, signal);
  }
}

function failed(text: string): { ok: false; text: string } {
  return { ok: false, text };
}

/** Reads the last outcomes. A torn or missing file has none. */
export async function outcomesIn(files: UpdateFiles): Promise<UpdateOutcomes> {
  const read = checkJson(UpdateOutcomes, (await files.outcomes()) ?? "{}");
  return read.ok ? read.value : {};
}

/** Rejects with the signal's reason. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
