/** How a kind of sandbox is started for one run. */

export type Start = {
  /** Starts the kind's program with a descriptor that it needs. */
  prefix?: readonly string[];
  args: string[];
  /** The text that it reads from descriptor 4. */
  script?: string;
  /** The complete environment of the kind's program. */
  env: Record<string, string>;
  /** Called after a run that was stopped. Never rejects. */
  clear?(): Promise<void>;
};

export type Given = {
  program: string;
  /** Variables that the call adds. */
  env: Readonly<Record<string, string>>;
  stateDir: string | undefined;
};
