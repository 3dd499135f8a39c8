/** Reads the text of a rule that acts: only what the gateway has signed, for this home and for now, is one. */
import { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import { checkJson, type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { GatewayPin } from "../gateway/gateway-pin.ts";

/** @param now epoch ms @returns the rule, or why it is none */
export function readSignedRule(
  text: string,
  pin: Pick<GatewayPin, "bodyOf" | "home">,
  now: number,
): Parsed<AllowedAutomation> {
  const body = pin.bodyOf(text);
  if (body === undefined) return wrong("its signature is not the gateway's");
  const read = checkJson(AllowedAutomation, body);
  if (!read.ok) return wrong(cutText(read.error, 300));
  const { home, allowed } = read.value;
  if (home !== pin.home) return wrong("it is another home's");
  if (now >= allowed.until) return wrong("its allowance is over");
  return read;
}
