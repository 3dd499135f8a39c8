import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { BridgeContext } from "../context.ts";
import type { HostedRules } from "../rules/hosted-rules.ts";
import type { HostedAgents } from "./hosted-agents.ts";
import type { MessageWatch } from "./message-watch.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** The objects that the parts of the device host share. */
export type DeviceContext = Omit<BridgeContext, "roster"> & {
  catalog: DeviceCatalog;
  agents: HostedAgents;
  subscriptions: Subscriptions;
  watch: MessageWatch;
  /** Hears of each command that is sent: what it changes is no news. */
  onCommand: HostedRules["commanded"];
};
