/** Questions of the rest of the Worker to a home about Home Assistant. */
import { auditDecision } from "../../../kernel/home/audit/decisions.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import type { HomeAssistantApi } from "../home-assistant-api.ts";
import { assistantOf } from "./assistant-questions.ts";

export const homeAssistantRpc: HomePart<HomeAssistantApi> = {
  async ask({ home }, question, { name, role }) {
    const answer = await assistantOf(home).ask(question);
    const hasChanged = typeof answer === "object" && answer.error === undefined;
    const caller = { principal: name, role, channel: "api" };
    if (hasChanged && question.finish)
      auditDecision(home, "home_assistant", caller, { url: answer.state?.url ?? "" });
    if (hasChanged && question.forget) auditDecision(home, "home_assistant_remove", caller, {});
    return answer;
  },
};
