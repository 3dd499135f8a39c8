/**
 * How a service has itself updated, though it may not write its own program: it leaves a request in its state folder,
 * a unit of root's sees it (docs/install.md), and what came of it stands in a file that the service can only read.
 * The service is started anew meanwhile, so whoever asked is told by the program after that, or by the one before.
 */
import { readFile, rm } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "../atomic-write.ts";

/** In the service's STATE_DIRECTORY; holds the id of who asks, and is gone when it was dealt with. */
export const REQUEST_FILE = "update-request";
/** In the environment of a service that can be updated so: the path of the file with what came of it. */
export const OUTCOMES_VARIABLE = "EDGECALL_UPDATES";
/** An id in the request: it is written on by root, so nothing else is. */
export const UPDATE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const OUTCOME = {
  /** It is decided; until then `text` is empty. */
  done: z.boolean(),
  ok: z.boolean(),
  /** For a person. */
  text: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** The version that it is about, and the one that was in use, once they are known: what goes on after a power cut. */
  to: z.optional(z.string()),
  before: z.optional(z.string()),
};

/** Each kind by itself, so that none hides the other. */
export const UpdateOutcomes = z.object({
  /** The last that was asked for. */
  asked: z.optional(z.object({ id: z.string(), ...OUTCOME })),
  /** The last by the timer. */
  scheduled: z.optional(z.object(OUTCOME)),
});
export type UpdateOutcomes = z.infer<typeof UpdateOutcomes>;

/**
 * The files by which a service has itself updated; undefined where nothing would look at them.
 * @param env the service's: the unit that has the variable is installed together with the one that looks
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

/** A service's own view of the two files. Each may throw what the system says. */
export type UpdateFiles = {
  /** Undefined: there is none. */
  request(): Promise<string | undefined>;
  ask(id: string): Promise<unknown>;
  withdraw(): Promise<unknown>;
  /** Undefined: nothing came of anything yet. */
  outcomes(): Promise<string | undefined>;
};

/** Longer than a download over a slow line and a trial together. */
export const UPDATE_WITHIN_MS = 30 * 60_000;
/** systemd sees a request at once; the unit may be busy with the timer's, and then it is seen after that. */
const TAKEN_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 500;

/**
 * Asks for an update, or goes on waiting for one that an earlier process asked for.
 * @returns what came of it
 * @throws the signal's reason; what the system says of the files
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
    // Before the outcomes: it is taken away after what came of it was written.
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

/** What came of the last ones. A file that is torn or not there tells of none. */
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
