/**
 * Records what runs in the traced Worker. It must be imported first, because modules call functions while they load.
 */

/** The index of a file, or `FETCH` when the Worker sends a request; with the time in epoch ms. */
type Entry = [at: number, file: number];
const FETCH = -1;

let entries: Entry[] = [];

/** Returns the entries since the last time. */
export function takeEntries(): Entry[] {
  const taken = entries;
  entries = [];
  return taken;
}

function note(file: number): void {
  entries.push([Date.now(), file]);
}

Object.assign(globalThis, { __entered: note });
const { fetch } = globalThis;
globalThis.fetch = (...args: Parameters<typeof fetch>) => {
  note(FETCH);
  return fetch(...args);
};
