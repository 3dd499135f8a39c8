/** What answers to questions need of the home. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { HISTORY_FEATURE } from "@edgecall/core/protocol/past.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { devicePastOf } from "../../../kernel/home/devices/device-past.ts";
import { deviceStatesOf } from "../../../kernel/home/devices/device-states.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import type { AnswerContext } from "./resolve.ts";
import type { IsCalled, Thing } from "./things.ts";

export function answerContextOf(
  home: HomeContext,
  given: {
    things: readonly Thing[];
    phrases: Phrases;
    earlier: readonly string[];
    called: IsCalled;
    now: number;
  },
): Omit<AnswerContext, "past"> {
  return {
    ...given,
    zone: clockOf(home).read().zone,
    states: (ids) => deviceStatesOf(home).ask(ids, true),
  };
}

/** The past is for members of the home. @returns undefined: it is not asked for */
export function pastIn(
  home: HomeContext,
  role: "owner" | "member" | "guest",
  now: number,
): AnswerContext["past"] {
  const bridge = bridgeOf(home);
  const isKept = bridge.has(HISTORY_FEATURE, now) || !bridge.isConnected(now);
  if (role === "guest" || !isKept || !readSettings(home.env).tools.history) return undefined;
  return (question) => devicePastOf(home).ask((id) => ({ t: "past", id, question }));
}
