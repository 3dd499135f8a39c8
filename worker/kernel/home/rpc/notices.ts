/** What the rest of the Worker asks a home about notices. */

import type { Pressed, RulePress } from "../../api/notices.ts";
import type { NoticesApi } from "../../api/notices-api.ts";
import type { HomeContext } from "../context.ts";
import { onLost } from "../notices/hand-over.ts";
import { pressButton } from "../notices/press.ts";
import type { HomePart } from "../part.ts";
import { isPasskeyButton, pressPasskeyButton } from "../passkeys/registrations.ts";
import { isPermissionButton, pressPermissionButton } from "../permissions/notify.ts";

export const noticesRpc: HomePart<NoticesApi> = {
  pressRule: ({ home }, press) => pressNotice(home, press),
  async noticeLost({ home }, lost) {
    await onLost(home, lost);
  },
};

/** A person pressed a button of a notice, wherever they had it. */
export async function pressNotice(home: HomeContext, press: RulePress): Promise<Pressed> {
  if (isPasskeyButton(press.rule)) return await pressPasskeyButton(home, press);
  return isPermissionButton(press.rule) ? pressPermissionButton(home, press) : await pressButton(home, press);
}
