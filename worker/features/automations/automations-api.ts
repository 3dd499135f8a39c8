/** Methods of a home about rules that act. */
import type { Viewer } from "../../kernel/api/may-see.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type {
  AutomationBody,
  AutomationCard,
  AutomationChanged,
  AutomationList,
  AutomationRefused,
  AutomationUndone,
} from "./contract.ts";

export interface AutomationsApi {
  list(viewer: Viewer): Promise<AutomationList>;
  /** How it would be allowed now. */
  card(id: string, viewer: Viewer): Promise<({ ok: true } & AutomationCard) | AutomationRefused>;
  change(id: string, change: AutomationBody, viewer: Viewer): Promise<AutomationChanged>;
  /** @returns false: this person has no such rule */
  remove(id: string, viewer: Viewer): Promise<boolean>;
  undo(
    id: string,
    firing: number,
    viewer: Viewer,
  ): Promise<({ ok: true } & AutomationUndone) | AutomationRefused>;
  /** A person says that they are away, or back. */
  say(away: boolean, viewer: Viewer): Promise<void>;
}

/** This home, as to rules that act. */
export const automationsAt = (env: Env, home: string): AutomationsApi => topicAt(env, home, "automations");
