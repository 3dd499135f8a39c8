/** The buttons of notices belong to the feature that wrote these. */

import type { Pressed, RulePress } from "../../api/notices.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf } from "../feature.ts";

export async function pressButton(home: HomeContext, pressed: RulePress): Promise<Pressed> {
  for (const { press } of featuresOf(home)) {
    const answer = press?.(home, pressed);
    if (answer) return await answer;
  }
  return { done: false, text: "This button does nothing any more." };
}
