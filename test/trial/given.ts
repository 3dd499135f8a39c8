/** What main.ts tells trial.ts. */

/** All of it; a calm machine takes a tenth. */
export const LIMIT_MS = 8 * 60_000;

export type Given = {
  /** See debian.ts. */
  debian: string;
  /** For everything that the trial writes. */
  dir: string;
  /** That machines are put below. */
  cgroups: string[];
  /** Where the figures go; absent: nowhere. */
  json?: string | undefined;
};
