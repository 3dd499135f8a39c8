/** What rules add to a home. */

import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { ruleTools } from "../model-tools.ts";
import { devicesGone, nextDue, onAlarm, onPresence } from "./alarm-part.ts";
import { notifyBridgeBack } from "./bridge-gone.ts";
import { onAgentEvent, onHostedChanges } from "./changes.ts";
import { noteNotDelivered } from "./not-delivered.ts";
import { syncAgentLater, syncBridge } from "./places.ts";
import { pressRule } from "./press.ts";
import { rulesRpc } from "./rpc.ts";
import { readLanguages } from "./rule-languages.ts";
import { rulesOf, versionThere } from "./rule-store.ts";
import { spokenRules } from "./spoken.ts";
import { runRuleTool } from "./tools.ts";
import { maySpeak, onUnsolicited } from "./unsolicited.ts";

export const rules = {
  rpc: { rules: rulesRpc },
  alarm: { nextDue, onAlarm },
  frames: { changes: onHostedChanges },
  tools: ruleTools,
  tool: runRuleTool,
  spokenRules,
  press: (home, press) => (/^[wr]-/.test(press.rule) ? pressRule(home, press) : undefined),
  hasAsker: (home, who) =>
    "rule" in who && who.version > 0 && versionThere(rulesOf(home).get(who.rule)) === who.version,
  on: {
    presence: onPresence,
    agentsGone: devicesGone,
    async bridgeWelcomed(home, hello, goneAt) {
      await readLanguages(home);
      notifyBridgeBack(home, goneAt, Date.now());
      if (hello.features?.includes(RULES_FEATURE)) await syncBridge(home, hello.rules);
    },
    agentServed: (home, agent) => syncAgentLater(home, agent),
    conditionsChanged(home, agents) {
      for (const agent of agents) syncAgentLater(home, agent, true);
    },
    agentEvent: onAgentEvent,
    keyReplaced: (home, before, after) => rulesOf(home).rekey(before, after),
    noticeMade: (home, { at, critical }, recipients) => rulesOf(home).noteSent({ at, critical }, recipients),
    notDelivered: noteNotDelivered,
  },
  async unsolicited(home, agent, text) {
    if (!maySpeak(home, agent)) return false;
    await onUnsolicited(home, agent, text);
    return true;
  },
} satisfies HomeFeature;
