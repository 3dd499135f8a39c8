/** What the rest of the Worker asks a home about audit. */

import { RpcTarget } from "cloudflare:workers";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import {
  type AuditFilter,
  type AuditPage,
  type AuditQuery,
  GATEWAY_AGENT,
} from "../../../kernel/api/audit.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { auditOf } from "../../../kernel/home/record/audit.ts";
import type { AuditApi } from "../audit-api.ts";
import { followRecord } from "./follow-record.ts";
import { addToRecord } from "./outlet.ts";

export class AuditRpc extends RpcTarget implements AuditApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async record(callId: string, line: AuditLine): Promise<void> {
    addToRecord(this.#at.home, GATEWAY_AGENT, callId, [line]);
  }

  async audit({ follow, ...query }: AuditQuery): Promise<AuditLine[]> {
    if (follow) await followRecord(this.#at.home, query.agent);
    return auditOf(this.#at.home).find(query);
  }

  async auditPage(after: number, filter: AuditFilter): Promise<AuditPage> {
    return auditOf(this.#at.home).page(after, filter);
  }
}
