/** Why the last press did not do what it should, over the screen: what is pressed there does not move. */
import { Small } from "./controls.tsx";
import { Icon } from "./parts/icon.tsx";
import { say } from "./texts/say.ts";
import type { Pressing } from "./use-press.ts";

export function FailedPress({ pressing: { failed, dismiss } }: { pressing: Pressing }) {
  return (
    <div class="toasts failed" role="alert">
      {failed && (
        <div class="toast">
          <Icon name="alarm" />
          <p class="grow">{say("named", failed)}</p>
          <Small kind="bare" onClick={dismiss}>
            {say("close")}
          </Small>
        </div>
      )}
    </div>
  );
}
