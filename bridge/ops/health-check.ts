/** `bridge health` asks the bridge on this machine how it is, in a container without a shell or curl. */

/** Shorter than Docker's own time-out, so that this one decides. */
const WITHIN_MS = 3_000;
/** The same as in settings.ts. */
const DEFAULT_PORT = "8788";

/**
 * @param words `alive`: only whether the process answers
 * @param say gets the answer's text
 * @returns 0 when gateway and broker are connected, else 1
 */
export async function healthCommand(
  words: readonly string[],
  env: Record<string, string | undefined>,
  say: (text: string) => void,
): Promise<number> {
  const path = words[0] === "alive" ? "healthz" : "readyz";
  const port = env.HEALTH_PORT || DEFAULT_PORT;
  try {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, {
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    say(`${await response.text()}\n`);
    return response.ok ? 0 : 1;
  } catch (error) {
    say(`no bridge answers on port ${port}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
