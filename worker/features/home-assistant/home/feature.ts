/** A home's questions to the bridge about Home Assistant. Nothing of it is stored here. */
import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { assistantOf } from "./assistant-questions.ts";
import { homeAssistantRpc } from "./rpc.ts";

export const homeAssistant = {
  rpc: { home_assistant: homeAssistantRpc },
  frames: { assistant: (home, frame) => assistantOf(home).onAnswer(frame) },
} satisfies HomeFeature;
