/** A home that has nothing yet: the ways to begin. */
import type { SessionView } from "@edgecall/client/routes.ts";
import { addressOfPlace } from "../address.ts";
import { Nothing } from "../parts/parts.tsx";
import { say } from "../texts/say.ts";

export function New({ session }: { session: SessionView }) {
  return (
    <Nothing icon="home" title={say("newTitle")} text={say("newText")}>
      {session.scopes?.includes("admin") && (
        <a class="button main" href={addressOfPlace("devices", ":add")}>
          {say("addDevice")}
        </a>
      )}
    </Nothing>
  );
}
