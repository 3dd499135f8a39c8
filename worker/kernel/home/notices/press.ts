/** The buttons of notices belong to the feature that wrote these. */
import type { Pressed, RulePress } from "../../api/notices.ts";
import type { HomeContext } from "../context.ts";

export async function pressButton(home: HomeContext, pressed: RulePress): Promise<Pressed> {
  const feature = home.features.find(({ press }) => press);
  return (
    (await feature?.press?.(home, pressed)) ?? { done: false, text: "This button does nothing any more." }
  );
}
