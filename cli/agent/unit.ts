/**
 * The agent's systemd unit. `systemd-analyze security` rates it 2.6. A lower figure is not possible with the sandbox, which
 * needs namespaces and mounts, and with the device's pins and cameras. docs/explain/services.md explains what the unit allows.
 */
import { UNIT_VARIABLE } from "@edgecall/pi-agent/service/leftovers.ts";
import { AGENT, PROC_DIR } from "../service/services.ts";
import { unitOf } from "../service/units/unit.ts";

/** @param programs the folder of the agent's programs; another one only in tests */
export function unitText(options: { systemd: number; programs?: string }): string {
  return unitOf(
    AGENT,
    {
      description: "edgecall agent: the tools of this device",
      after: "mosquitto.service edgecall-broker.service",
      run: `agent run --config ${AGENT.places.settings}`,
      ends: 'The command "shutdown", where the settings allow it, ends the agent for good.',
      bounds: [
        "# The sandbox's programs count, too. What one of them takes too much ends that one, not the agent.",
        "MemoryHigh=60%",
        "MemoryMax=75%",
        "OOMPolicy=continue",
        "TasksMax=512",
      ],
      own: OWN,
    },
    options,
  );
}

const OWN =
  `# Jobs go on when the agent ends or is updated. The next agent ends whatever else is left, and knows by this that it has to.
KillMode=process
Environment=${UNIT_VARIABLE}=%n

# What bubblewrap needs: namespaces and mounts of its own …
RestrictNamespaces=user mnt pid ipc uts net cgroup
SystemCallFilter=@mount capset
# … the bound on further namespaces within them, which is written below this (and by root alone outside of them) …
ReadWritePaths=/proc/sys/user
# … and a /proc of its own, which the kernel gives only to whoever sees a whole one: the lines above cover parts of it.
BindPaths=/proc:${PROC_DIR}:norbind

# Pins, sensors and cameras, where there are any; the user is in their groups. (PrivateDevices would take the pins.)
DevicePolicy=closed
DeviceAllow=char-gpiochip rw
DeviceAllow=char-i2c rw
DeviceAllow=char-spi rw
DeviceAllow=char-video4linux rw
DeviceAllow=char-media rw
DeviceAllow=char-dma_heap rw
DeviceAllow=/dev/vcio rw`.split("\n");

/** Groups for a Raspberry Pi's devices and the system's log. The user joins those that exist. */
export const DEVICE_GROUPS = ["gpio", "i2c", "spi", "video", "systemd-journal"] as const;
