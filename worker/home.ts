/** A home with its features. A new feature is one line of this list. */

import { audit } from "./features/audit/home/feature.ts";
import { automations } from "./features/automations/home/feature.ts";
import { chat } from "./features/chat/home/feature.ts";
import { devices } from "./features/devices/home/feature.ts";
import { history } from "./features/history/home/feature.ts";
import { homeAssistant } from "./features/home-assistant/home/feature.ts";
import { lending } from "./features/lending/home/feature.ts";
import { oauth } from "./features/oauth/home/feature.ts";
import { pairing } from "./features/pairing/home/feature.ts";
import { push } from "./features/push/home/feature.ts";
import { relay } from "./features/relay/home/feature.ts";
import { rules } from "./features/rules/home/feature.ts";
import { sentences } from "./features/sentences/home/feature.ts";
import { sessions } from "./features/sessions/home/feature.ts";
import { updates } from "./features/updates/home/feature.ts";
import { usage } from "./features/usage/home/feature.ts";
import type { HomeMethods } from "./kernel/api/home-api.ts";
import type { Env } from "./kernel/env.ts";
import { homeToolsOf } from "./kernel/home/feature.ts";
import { HomeObject } from "./kernel/home/home.ts";
import { defineMethods } from "./kernel/home/methods.ts";
import type { MethodsOf } from "./kernel/rpc-topics.ts";

export const HOME_FEATURES = [
  lending,
  sessions,
  // It takes calls of the tool `rules` that mean a rule that acts.
  automations,
  rules,
  push,
  chat,
  oauth,
  pairing,
  devices,
  homeAssistant,
  usage,
  relay,
  updates,
  audit,
  sentences,
  history,
];

/** The tools that a home runs, for the front doors. */
export const HOME_TOOLS = homeToolsOf(HOME_FEATURES);

/** Its methods are those of the kernel and of the features: `defineMethods` makes them. */
export interface Home extends HomeMethods, MethodsOf<typeof HOME_FEATURES> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are defined below, from the list
export class Home extends HomeObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, HOME_FEATURES);
  }
}

defineMethods(Home, HOME_FEATURES);
