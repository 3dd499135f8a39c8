/** What rules that act add to a home. */
import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { automationTools } from "../model-tools.ts";
import { answerRule, onAct } from "./act.ts";
import { nextDue, onAlarm } from "./alarm-part.ts";
import { draftsOf, onOrdered } from "./ask-bridge.ts";
import { automationsOf } from "./automation-store.ts";
import { listed, runTool, spoken } from "./by-name.ts";
import { causeOf } from "./cause.ts";
import { onNews } from "./news.ts";
import { makerHolds, onAgentsGone, onPermissionEnded } from "./pause.ts";
import { pressAutomation } from "./press.ts";
import { AUTOMATION_MIGRATIONS } from "./schema.ts";
import { syncRules } from "./sync.ts";
import { automationsRpc } from "./views.ts";

export const automations = {
  rpc: { automations: automationsRpc },
  migrations: AUTOMATION_MIGRATIONS,
  alarm: { nextDue, onAlarm },
  prune: (home, now) => automationsOf(home).prune(now),
  frames: {
    drafted: (home, { id, drafted }) => draftsOf(home).answered(id, drafted),
    ordered: onOrdered,
    act: onAct,
    news: onNews,
  },
  tools: automationTools,
  tool: runTool,
  spokenRules: spoken,
  listRules: listed,
  press: pressAutomation,
  answerRule,
  conditions: (home) =>
    automationsOf(home)
      .active()
      .flatMap(({ automation }) => automation.when),
  causeOf,
  hasAsker(home, who) {
    const row = "rule" in who ? automationsOf(home).get(who.rule) : undefined;
    const isIts = "rule" in who && row?.automation.version === who.version;
    return isIts && row?.status === "active" && makerHolds(home, row);
  },
  on: {
    bridgeWelcomed: syncRules,
    agentsGone: async (home) => onAgentsGone(home),
    permissionEnded: onPermissionEnded,
  },
} satisfies HomeFeature;
