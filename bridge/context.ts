import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { StallDetector } from "@edgecall/node/stall-detector.ts";
import type { BrokerLink } from "./broker/broker.ts";
import type { Roster } from "./broker/presence.ts";
import type { ReportBuffer } from "./broker/report-buffer.ts";
import type { HomeOutbox } from "./gateway/outbox.ts";

/** The objects that the parts of a bridge share. */
export type BridgeContext = {
  /** The topics' prefix. */
  prefix: string;
  log: Log;
  clock: Clock;
  stall: Pick<StallDetector, "arrival">;
  roster: Roster;
  reports: ReportBuffer;
  broker: Pick<BrokerLink, "up" | "publish">;
  outbox: Pick<HomeOutbox, "taken" | "refuse" | "report" | "event">;
};
