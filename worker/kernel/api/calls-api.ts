/** Methods of a home about calls. */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { CancelledCall, CommandRequest, SettledOutcome, SubmitReply, SubmitRequest } from "./calls.ts";
import type { HomeToolReply, HomeToolRequest } from "./home-tools.ts";
import type { Viewer } from "./may-see.ts";

export interface CallsApi {
  /** Records a call of the gateway's own tools. A line with the same id is replaced. */
  record(callId: string, line: AuditLine): Promise<void>;
  /** Takes a call of `edge_call`, once for each id. */
  submit(request: SubmitRequest): Promise<SubmitReply>;
  /** Runs a tool of the home, once for each id. */
  runTool(request: HomeToolRequest): Promise<HomeToolReply>;
  /** Takes one command to one agent, from the API. Its report comes over `/wait?call=`. */
  command(request: CommandRequest): Promise<SubmitReply>;
  /** Tells the devices to stop. @returns the calls that were sent: what they did is unknown */
  cancel(calls: CancelledCall[], conversation: string): Promise<string[]>;
  /** Somebody watches these calls from now on. */
  watch(ids: string[]): Promise<void>;
  /** A command's outcome. Null: it is still running. Undefined: there is none that this caller may see. */
  outcome(agent: string, id: string, viewer: Viewer): Promise<SettledOutcome | null | undefined>;
  /** A session has ended that a device began. @returns true: the device waited, and gets the outcome */
  sessionEnded(callId: string, outcome: Outcome): Promise<boolean>;
}
