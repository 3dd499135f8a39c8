/** What the rest of the Worker asks a home about notices. */
import type { LostNotice, Pressed, RulePress } from "../../api/notices.ts";
import type { NoticesApi } from "../../api/notices-api.ts";
import { onLost } from "../notices/hand-over.ts";
import { pressButton } from "../notices/press.ts";
import { HomePart } from "../part.ts";

export class NoticesRpc extends HomePart implements NoticesApi {
  async pressRule(press: RulePress): Promise<Pressed> {
    return await pressButton(this.home, press);
  }

  async noticeLost(lost: LostNotice): Promise<void> {
    await onLost(this.home, lost);
  }
}
