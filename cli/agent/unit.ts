/**
 * The systemd unit. `systemd-analyze security` gives it 2.6; what keeps it from less is the sandbox, which needs
 * namespaces and mounts, and the device's pins and cameras. docs/operations.md tells it line by line.
 */
import { NODE_ENVIRONMENT } from "@edgecall/pi-agent/node-options.ts";
import { PROC_DIR, PROGRAM_DIR, RUNTIME_DIR, SETTINGS_FILE, STATE_DIR, USER } from "./places.ts";

/** `RestartSteps` is known from here on; older ones wait the same time before each start. */
const GROWING_DELAYS_FROM = 254;

/** @param programs where PROGRAM_DIR is; elsewhere only in tests */
export function unitText({
  systemd,
  programs = PROGRAM_DIR,
}: {
  systemd: number;
  programs?: string;
}): string {
  const delays = systemd >= GROWING_DELAYS_FROM ? ["RestartSteps=6", "RestartMaxDelaySec=2min"] : [];
  const variables = Object.entries(NODE_ENVIRONMENT)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
  return `# Made by "edgecall agent install"; changes of yours: systemctl edit edgecall-agent
[Unit]
Description=edgecall agent: the tools of this device
Wants=network-online.target
After=network-online.target mosquitto.service
# It is tried for as long as it takes: a broker or a disk may come back after a week.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
User=${USER}
Group=${USER}
# A new version is on trial until it was online once; else the one before it is started again.
ExecStartPre=+${programs}/trial begin
ExecStart=${programs}/launch ${programs}/current/edgecall agent run --config ${SETTINGS_FILE}
ExecStartPost=+${programs}/trial passed
# The command "shutdown", where the settings allow it, ends the agent for good.
Restart=on-failure
RestartSec=5
${delays.join("\n")}
TimeoutStartSec=90
TimeoutStopSec=15
WatchdogSec=60
# A hung process is ended by a signal that would write all its memory to the card.
LimitCORE=0
# Node's memory. A single executable takes flags from here alone, and only some; a bundle's starter has the others.
Environment=NODE_OPTIONS=--max-semi-space-size=1 ${variables}
StateDirectory=${STATE_DIR.split("/").at(-1)}
StateDirectoryMode=0700
RuntimeDirectory=${RUNTIME_DIR.split("/").at(-1)}
RuntimeDirectoryMode=0750
UMask=0077

# The sandbox's programs count, too. What one of them takes too much ends that one, not the agent.
MemoryHigh=60%
MemoryMax=75%
OOMPolicy=continue
TasksMax=512

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
KeyringMode=private
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@resources
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute would end Node at its start; PrivateDevices would take the pins.

# What bubblewrap needs: namespaces and mounts of its own …
RestrictNamespaces=user mnt pid ipc uts net cgroup
SystemCallFilter=@mount capset
# … the bound on further namespaces within them, which is written below this (and by root alone outside of them) …
ReadWritePaths=/proc/sys/user
# … and a /proc of its own, which the kernel gives only to whoever sees a whole one: the lines above cover parts of it.
BindPaths=/proc:${PROC_DIR}:norbind

# Pins, sensors and cameras, where there are any; the user is in their groups.
DevicePolicy=closed
DeviceAllow=char-gpiochip rw
DeviceAllow=char-i2c rw
DeviceAllow=char-spi rw
DeviceAllow=char-video4linux rw
DeviceAllow=char-media rw
DeviceAllow=char-dma_heap rw
DeviceAllow=/dev/vcio rw

[Install]
WantedBy=multi-user.target
`;
}

/** Groups of a Raspberry Pi's devices and of the system's log; the user joins those that are there. */
export const DEVICE_GROUPS = ["gpio", "i2c", "spi", "video", "systemd-journal"] as const;
