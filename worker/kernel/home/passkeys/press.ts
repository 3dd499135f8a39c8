/** Buttons of notices: those of passkeys are the kernel's own, all others a feature's. */

import type { Pressed, RulePress } from "../../api/notices.ts";
import type { HomeContext } from "../context.ts";
import { pressButton } from "../notices/press.ts";
import { isPasskeyButton, pressPasskeyButton } from "./registrations.ts";

export async function pressNotice(home: HomeContext, press: RulePress): Promise<Pressed> {
  return isPasskeyButton(press.rule) ? await pressPasskeyButton(home, press) : await pressButton(home, press);
}
