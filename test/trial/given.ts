/** The input of trial.ts, which main.ts makes. */

/** The time limit of the whole trial; a calm machine takes a tenth of it. */
export const LIMIT_MS = 8 * 60_000;

export type Given = {
  /** See debian.ts. */
  debian: string;
  /** The folder for everything that the trial writes. */
  dir: string;
  /** The parent cgroups of the machines. */
  cgroups: string[];
  /** The file for the figures; absent: they are not written. */
  json?: string | undefined;
};
