/**
 * A sign-in at Home Assistant, for which the browser leaves the page. It comes back with a code in its address, which leaves the address
 * at once and is kept for the card alone.
 */

/** In this tab's storage: what the gateway called the sign-in that the browser left for. */
const BEGUN = "home-assistant-sign-in";

type SignIn = { state: string; code: string };

let returned: SignIn | undefined;

/** Goes there. */
export function leaveToSignIn({ authorize, state }: { authorize: string; state: string }): void {
  sessionStorage.setItem(BEGUN, state);
  location.assign(authorize);
}

/** Call it before the first screen is shown. An address with a code that this tab did not ask for is anybody's. */
export function readSignIn(): void {
  const query = new URLSearchParams(location.search);
  const [state, code] = [query.get("state"), query.get("code")];
  if (state === null || code === null) return;
  if (state === sessionStorage.getItem(BEGUN)) returned = { state, code };
  sessionStorage.removeItem(BEGUN);
  history.replaceState(null, "", "/#/setup/home-assistant");
}

/** Returns it once. */
export function returnedSignIn(): SignIn | undefined {
  const found = returned;
  returned = undefined;
  return found;
}
