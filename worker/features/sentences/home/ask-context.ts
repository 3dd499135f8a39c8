/** What answers to questions need of the home. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { deviceStatesOf } from "../../../kernel/home/devices/device-states.ts";
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
): AnswerContext {
  return {
    ...given,
    zone: clockOf(home).read().zone,
    states: (ids) => deviceStatesOf(home).ask(ids, true),
  };
}
