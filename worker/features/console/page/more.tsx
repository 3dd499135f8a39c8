/** What the bar of a phone has no room for: two screens, and the person who is signed in. */

import type { ScreenProps } from "./lazy.tsx";
import { Screen } from "./load.tsx";
import { LinkLine } from "./parts/parts.tsx";
import { SignOut } from "./sign-out.tsx";
import { say } from "./texts/say.ts";

export function More({ session }: ScreenProps) {
  return (
    <Screen title={say("more")}>
      <ul class="card rows">
        <LinkLine icon="record" title={say("record")} second={say("recordAbout")} href="#/record" />
        <LinkLine icon="setup" title={say("setup")} second={say("setupAbout")} href="#/setup" />
      </ul>
      <div class="row">
        <span class="grow quiet">
          {session.name} · {session.role}
        </span>
        <SignOut />
      </div>
    </Screen>
  );
}
