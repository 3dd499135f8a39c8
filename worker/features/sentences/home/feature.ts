/** What plain sentences add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { planReply } from "./plan-reply.ts";
import { sentencesRpc } from "./rpc.ts";

export const sentences = { rpc: { sentences: sentencesRpc }, planReply } satisfies HomeFeature;
