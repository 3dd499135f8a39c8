/** The bridge's systemd unit: two outgoing sockets and a folder of its own. docs/explain/services.md explains what the unit allows. */
import { BRIDGE } from "../service/services.ts";
import { CLOSED_TO_LONE_PROGRAMS } from "../service/units/hardening.ts";
import { unitOf } from "../service/units/unit.ts";

/** @param programs the folder of the bridge's programs; another one only in tests */
export function unitText(options: { systemd: number; programs?: string }): string {
  return unitOf(
    BRIDGE,
    {
      description: "edgecall bridge: joins this home's broker to its gateway",
      after: "mosquitto.service edgecall-broker.service",
      run: "bridge run",
      ends: "Only a stop ends it for good.",
      // At rest it takes some 80 MiB. The program itself bounds what it takes from broker and gateway.
      bounds: ["MemoryHigh=40%", "MemoryMax=50%", "TasksMax=64"],
      own: [
        "# systemd reads it as root: the program cannot change it.",
        `EnvironmentFile=${BRIDGE.places.settings}`,
        "",
        CLOSED_TO_LONE_PROGRAMS,
      ],
    },
    options,
  );
}
