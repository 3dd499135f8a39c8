/** The clock of the demo home: a test passes its own. */
export type DemoClock = {
  /** Epoch ms, for the times that publishers write. */
  now(): number;
  /** Runs something once. @returns a function that calls it off */
  after(ms: number, run: () => void): () => void;
};

export const realClock: DemoClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
