/** Holds what this program learned of how much fits its model. It asks a local server again after a start. */
import { ModelLimits } from "@edgecall/core/loop/model-limits.ts";

export const modelLimits = new ModelLimits();
