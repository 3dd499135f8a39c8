/** What runs in the traced Worker. To be imported before everything else: modules call functions as they load. */

/** The index of a file, or `FETCH`: the Worker asks somebody else. With the time, epoch ms. */
type Entry = [at: number, file: number];
const FETCH = -1;

let entries: Entry[] = [];

/** Those since the last time. */
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
