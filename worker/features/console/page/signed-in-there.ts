/** The browser comes back from Home Assistant with a code in its address: it is kept for the card alone, and leaves the address at once. */

type SignIn = { state: string; code: string };

let kept: SignIn | undefined;

/** Call it before the first screen is shown. */
export function readSignIn(): void {
  const query = new URLSearchParams(location.search);
  const [state, code] = [query.get("state"), query.get("code")];
  if (state === null || code === null) return;
  kept = { state, code };
  history.replaceState(null, "", "/#/setup/home-assistant");
}

/** Returns it once. */
export function signInOnce(): SignIn | undefined {
  const found = kept;
  kept = undefined;
  return found;
}
