/** Ends the session of this browser. */
import { client } from "./api.ts";
import { Small } from "./controls.tsx";
import { say } from "./texts/say.ts";

export function SignOut() {
  return <Small onClick={() => signOut()}>{say("signOut")}</Small>;
}

async function signOut(): Promise<void> {
  await client.json("DELETE /v1/console/session").catch(() => undefined);
  // The next person at this machine must not see which conversation it was.
  location.replace("#/");
  location.reload();
}
