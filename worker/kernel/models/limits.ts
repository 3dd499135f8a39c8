/** Keeps what this isolate learned of how much fits each model: local servers tell it again, and a refusal costs a request. */
import { ModelLimits } from "@edgecall/core/loop/model-limits.ts";

export const modelLimits = new ModelLimits();
