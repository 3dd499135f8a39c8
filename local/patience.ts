/** Waits for this machine's own programs: a slow machine needs minutes, and a person who waits is told for what. */

export type Patience = {
  /** The rest of a sentence that begins with "still waiting after 20 s: ": it names what is missing now. */
  missing(): string;
  /** A line for a person. */
  say(line: string): void;
};

const SAY_EVERY_MS = 20_000;
/** A start takes two seconds. The slowest machine that was seen needed less than one minute. */
const WITHIN_MS = 300_000;

/** @throws what `done` throws, and with what is missing after five minutes */
export async function waitPatiently<T>(done: Promise<T>, { missing, say }: Patience): Promise<T> {
  const late = Promise.withResolvers<never>();
  let waited = 0;
  const timer = setInterval(() => {
    waited += SAY_EVERY_MS;
    const text = `after ${waited / 1_000} s: ${missing()}`;
    if (waited >= WITHIN_MS) late.reject(new Error(`gave up ${text}`));
    else say(`still waiting ${text}`);
  }, SAY_EVERY_MS);
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
