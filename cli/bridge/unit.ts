/** The bridge's systemd unit: two sockets out, and a folder of its own. docs/install.md tells what it allows and why. */
import { BRIDGE } from "../service/services.ts";
import { CLOSED_TO_LONE_PROGRAMS } from "../service/units/hardening.ts";
import { unitOf } from "../service/units/unit.ts";

/** @param programs where the bridge's programs are; elsewhere only in tests */
export function unitText(options: { systemd: number; programs?: string }): string {
  return unitOf(
    BRIDGE,
    {
      description: "edgecall bridge: joins this home's broker to its gateway",
      after: "mosquitto.service edgecall-broker.service",
      run: "bridge run",
      ends: "Only a stop ends it for good.",
      // At rest it has some 80 MiB; what comes from broker and gateway is bounded by the program itself.
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
