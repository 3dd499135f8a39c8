/** What plain sentences add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { planReply } from "./plan-reply.ts";

export const sentences = { planReply } satisfies HomeFeature;
