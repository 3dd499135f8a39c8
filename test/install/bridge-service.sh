# Runs as root in a machine of its own (machine.ts): installs the bridge as a service, adds an agent, and uninstalls.
. /repo/test/install/steps.sh

broker
systemd-run --quiet --unit=gateway --property=StandardOutput=file:/tmp/gateway /opt/node/bin/node /repo/test/install/played-gateway.ts
until_true [ -s /tmp/gateway ]
GATEWAY="$(cat /tmp/gateway)"
echo secret > /tmp/token
unit_says bridge ""

step refused-settings node /test/edgecall.cjs bridge install --gateway "$GATEWAY"
step install node /test/edgecall.cjs bridge install --gateway "$GATEWAY" --token-file /tmp/token
online_or_end bridge
step status edgecall bridge status --json
step doctor edgecall bridge doctor
step modes stat -c '%n %U:%G %a' /etc/edgecall /etc/edgecall/bridge.env /var/lib/edgecall-bridge /opt/edgecall-bridge/current/edgecall /run/edgecall-bridge/status.json
step bounds sh -c 'nsenter -t "$(systemctl show edgecall-bridge -p MainPID --value)" -m setpriv --reuid edgecall-bridge --regid edgecall-bridge --clear-groups sh -c "cat /etc/edgecall/bridge.env; echo x > /opt/edgecall-bridge/launch; echo x > /var/lib/edgecall-bridge/mine && echo written" 2>&1'
hang bridge

step update edgecall bridge update /test/newer.cjs
step ends-at-once edgecall bridge update /test/ends.cjs
step after-ends online bridge

step agent node /test/edgecall.cjs agent install --id eye
step link readlink /usr/local/bin/edgecall
step agent-gone edgecall agent uninstall --purge
step bridge-stays edgecall bridge doctor
step link-after readlink /usr/local/bin/edgecall

systemctl stop gateway
step no-gateway edgecall bridge doctor
step no-update edgecall bridge update /test/edgecall.cjs
step keep edgecall bridge uninstall --keep
step kept ls /etc/edgecall/bridge.env /var/lib/edgecall-bridge/mine
step again node /test/edgecall.cjs bridge install --no-start
step purge edgecall bridge uninstall --purge
nothing_left
step journal journalctl -u edgecall-bridge --no-pager -o cat
