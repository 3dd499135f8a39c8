/** How parts of a home reach what they keep. */
import { slotsOf } from "../slot.ts";
import type { HomeContext } from "./context.ts";

export const slot = slotsOf<HomeContext>();
