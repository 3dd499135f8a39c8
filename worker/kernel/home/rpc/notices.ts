/** What the rest of the Worker asks a home about notices. */

import type { NoticesApi } from "../../api/notices-api.ts";
import { onLost } from "../notices/hand-over.ts";
import type { HomePart } from "../part.ts";
import { pressNotice } from "../passkeys/press.ts";

export const noticesRpc: HomePart<NoticesApi> = {
  pressRule: async ({ home }, press) => await pressNotice(home, press),
  async noticeLost({ home }, lost) {
    await onLost(home, lost);
  },
};
