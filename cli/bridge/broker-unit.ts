/** The units of the home's own broker: one runs Mosquitto with our files, the others make it reload them after a change. */
import { join } from "node:path";
import { RELOAD_FILE } from "@edgecall/bridge/ops/broker-files.ts";
import { BRIDGE } from "../service/services.ts";
import { CLOSED_TO_ALL, CLOSED_TO_LONE_PROGRAMS, CLOSED_TO_NON_ROOT } from "../service/units/hardening.ts";

export const BROKER_UNIT = "edgecall-broker";
export const RELOAD_UNIT = "edgecall-broker-reload";
/** Owned by root: the bridge writes the logins, but cannot change what the broker loads and where it listens. */
export const BROKER_CONFIG_DIR = "/etc/edgecall/broker";
/** The folder of the logins and the broker's state. The bridge writes the logins (BROKER_FILES). */
export const BROKER_FILES_DIR = join(BRIDGE.places.state, "broker");

/**
 * The broker runs as the bridge's user, since Mosquitto must own its password file. It sees only its own folder of the
 * bridge's state. In its own user namespace it cannot read the bridge's memory either.
 * @param program the path of Mosquitto
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
 * systemd watches a mark instead of the files. During a reload it does not watch, so a change of the files at that moment,
 * for instance a revoked login, would wait for the next one. A new mark is noticed after the reload.
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
