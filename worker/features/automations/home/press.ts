/** A person presses a button of a rule that acts. */
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import type { Pressed, RulePress } from "../../../kernel/api/notices.ts";
import { conversationOf } from "../../../kernel/api/stubs.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { personText } from "../../../kernel/home/people/person-name.ts";
import { logError } from "../../../kernel/log.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import { undo } from "./ask-bridge.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { stopRule } from "./pause.ts";

/** @returns undefined: the button is of something else */
export function pressAutomation(home: HomeContext, press: RulePress): Promise<Pressed> | undefined {
  return press.rule.startsWith("a-") ? pressed(home, press) : undefined;
}

async function pressed(home: HomeContext, press: RulePress): Promise<Pressed> {
  const { rule, by, occurrence = 0 } = press;
  const row = automationsOf(home).get(rule);
  const phrases = await readLanguage(home.env, row?.maker.language ?? "en");
  const here = [by.conversation ?? [], by.privateChat ?? []].flat();
  if (!mayPress(row, press, here)) return { done: false, text: phrases.say("notTold") };
  if (!row || (row.status === "gone" && press.do !== "ack"))
    return { done: true, text: phrases.say("ruleIsGone") };
  const text = await answerTo(home, row, press);
  // The button stays where it may do something later.
  if (text === undefined)
    return { done: false, text: phrases.say(press.do === "undo" ? "bridgeNotConnected" : "isOverAlready") };
  const { conversation } = row.maker;
  if (conversation !== null && !here.includes(conversation))
    try {
      await conversationOf(home.env, conversation).pressed({ do: press.do, rule, occurrence }, text);
    } catch (error) {
      // The button stays there, and says that there is an answer.
      logError("rule.press_not_shown", error, { rule });
    }
  return { done: true, text };
}

/** Owners and its maker may, members who read where it tells, and to stop it each member: that takes nothing but the rule away. */
function mayPress(
  row: AutomationRow | undefined,
  { do: what, by }: RulePress,
  here: readonly string[],
): boolean {
  if (by.role === "guest") return false;
  if (by.role === "owner" || what === "stop" || !row) return true;
  return by.principal === row.maker.principal || here.includes(row.maker.conversation ?? "");
}

/** @returns undefined: nothing was done */
async function answerTo(
  home: HomeContext,
  row: AutomationRow,
  press: RulePress,
): Promise<string | undefined> {
  const { by, do: what, rule, occurrence = 0 } = press;
  const phrases = await readLanguage(home.env, row.maker.language);
  const words = { person: personText(home, by), name: plainText(row.automation.name, 60) };
  if (what === "undo") {
    const done = await undo(home, row, occurrence, words.person);
    return done && ("text" in done ? done.text : "error" in done ? done.error : undefined);
  }
  // Another press may have come meanwhile.
  const { critical, ...answered } = automationsOf(home).get(rule) ?? row;
  const isStop = what === "stop";
  if (!isStop && (what !== "ack" || !critical)) return undefined;
  automationsOf(home).put(answered);
  if (isStop && answered.status === "active") stopRule(home, answered);
  return phrases.say(isStop ? "stoppedBy" : "answeredBy", words);
}
