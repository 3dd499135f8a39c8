/** What the rest of the Worker asks a home about notices. */

import type { NoticesApi } from "../../api/notices-api.ts";
import { onLost } from "../notices/hand-over.ts";
import { pressButton } from "../notices/press.ts";
import type { HomePart } from "../part.ts";
import { isPasskeyButton, pressPasskeyButton } from "../passkeys/registrations.ts";

export const noticesRpc: HomePart<NoticesApi> = {
  pressRule: async ({ home }, press) =>
    isPasskeyButton(press.rule) ? await pressPasskeyButton(home, press) : await pressButton(home, press),
  async noticeLost({ home }, lost) {
    await onLost(home, lost);
  },
};
