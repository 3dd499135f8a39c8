/** The units of the home's own broker: Mosquitto with our files, and what has it read them again when they change. */
import { join } from "node:path";
import { RELOAD_FILE } from "@edgecall/bridge/ops/broker-files.ts";
import { BRIDGE } from "../service/services.ts";
import { CLOSED_TO_ALL, CLOSED_TO_LONE_PROGRAMS, CLOSED_TO_NON_ROOT } from "../service/units/hardening.ts";

export const BROKER_UNIT = "edgecall-broker";
export const RELOAD_UNIT = "edgecall-broker-reload";
/** Root's: the bridge, which writes who may log in, cannot change what the broker loads and where it listens. */
export const BROKER_CONFIG_DIR = "/etc/edgecall/broker";
/** Logins and what the broker keeps; the bridge writes them (BROKER_FILES). */
export const BROKER_FILES_DIR = join(BRIDGE.places.state, "broker");

/**
 * It is the bridge's user, for Mosquitto wants its password file to be its own; but of the bridge's state it sees its
 * own folder alone, and in a user namespace of its own it cannot look into the bridge's memory either.
 * @param program where Mosquitto is
 */
export function brokerUnit({ program = "/usr/sbin/mosquitto", config = BROKER_CONFIG_DIR } = {}): string {
  const { state } = BRIDGE.places;
  return `# Made by "edgecall bridge broker"; changes of yours: systemctl edit ${BROKER_UNIT}
[Unit]
Description=edgecall broker: Mosquitto, with a login for each device of this home
After=network.target
StartLimitIntervalSec=0

[Service]
Type=exec
User=${BRIDGE.user}
Group=${BRIDGE.user}
ExecStart=${program} -c ${config}/mosquitto.conf
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
TimeoutStopSec=15
LimitCORE=0
UMask=0077
MemoryMax=25%
TasksMax=16

TemporaryFileSystem=${state}
BindReadOnlyPaths=-${BROKER_FILES_DIR}
BindPaths=-${BROKER_FILES_DIR}/state

${CLOSED_TO_ALL}
${CLOSED_TO_NON_ROOT}
${CLOSED_TO_LONE_PROGRAMS}
# It is no Node, which writes code of its own into memory.
MemoryDenyWriteExecute=yes

[Install]
WantedBy=multi-user.target
`;
}

/**
 * A mark rather than the files themselves: systemd does not look at them while a reload is under way, and a change that
 * came just then, a revoked login say, would wait for the next one. A mark that is there again is seen.
 */
export const RELOAD_PATH_UNIT = `# Made by "edgecall bridge broker"
[Unit]
Description=edgecall broker: logins changed

[Path]
PathExists=${BROKER_FILES_DIR}/${RELOAD_FILE}

[Install]
WantedBy=multi-user.target
`;

export const RELOAD_SERVICE_UNIT = `# Made by "edgecall bridge broker"
[Unit]
Description=edgecall broker: reads its logins again
StartLimitIntervalSec=0

[Service]
Type=oneshot
User=${BRIDGE.user}
Group=${BRIDGE.user}
# First: what changes from here on makes it again.
ExecStart=/bin/rm -f ${BROKER_FILES_DIR}/${RELOAD_FILE}
ExecStart=+/bin/systemctl try-reload-or-restart ${BROKER_UNIT}
# Mosquitto forgets a SIGHUP that comes while it still reads because of the one before.
ExecStart=/bin/sleep 0.5
`;
