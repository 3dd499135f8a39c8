/** What the rest of the Worker asks a home about Home Assistant. */
import type { HomePart } from "../../../kernel/home/part.ts";
import type { HomeAssistantApi } from "../home-assistant-api.ts";
import { assistantOf } from "./assistant-questions.ts";

export const homeAssistantRpc: HomePart<HomeAssistantApi> = {
  ask: async ({ home }, question) => await assistantOf(home).ask(question),
};
