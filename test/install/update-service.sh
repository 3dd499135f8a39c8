# Runs as root in a machine of its own (machine.ts): agent and bridge are updated on command and by the timer.
. /repo/test/install/steps.sh

serve() {
  cp "$1" /tmp/served/next
  echo "$2" > /tmp/served/version
  mv /tmp/served/next /tmp/served/program
}
job() { timeout 150 node /repo/test/install/job.ts update_self; }
update_bridge() {
  rm -f /tmp/served/updated
  systemctl kill -s USR1 gateway
  until_true [ -e /tmp/served/updated ] && cat /tmp/served/updated
}

mkdir -p /tmp/served
broker
VERSION="$(node /test/edgecall.cjs --version | cut -d" " -f2)"
serve /test/edgecall.cjs "$VERSION"
systemd-run --quiet --unit=gateway /opt/node/bin/node /repo/test/install/played-updates.ts /tmp/served
unit_says agent ""
unit_says bridge ""
# systemd does not always notice here that a killed service has ended; it would wait for 90 s.
unit_says agent-update TimeoutStopSec=2
step install node /test/edgecall.cjs agent install --settings /test/agent.toml --auto-update
online_or_end agent
until_true [ -e /tmp/served/gateway.json ]
step not-paired edgecall agent update
cp /tmp/served/gateway.json /etc/edgecall/gateway.json
step timer systemctl list-timers --all --no-pager edgecall-agent-update.timer
step in-use edgecall agent update
step doctor edgecall agent doctor

serve /test/newer.cjs "$VERSION"
step asked job
step rights stat -c '%n %U:%G %a' /opt/edgecall/updates.json /etc/systemd/system/edgecall-agent-update.path
step no-request sh -c '! ls /var/lib/edgecall/update-request'

serve /test/ends.cjs 9.9.9
step asked-bad job
step online-after online agent
step timer-run systemctl start edgecall-agent-update
step status edgecall agent status --json

serve /test/edgecall.cjs 0.0.9
step older edgecall agent update
step forced edgecall agent update --force

# It is killed during its work: the path unit starts it again, and it continues.
serve /test/newer.cjs "$VERSION"
job > /tmp/job &
asking=$!
until_true [ -e /opt/edgecall/on-trial ]
systemctl kill -s KILL edgecall-agent-update
wait "$asking"
step killed cat /tmp/job

# The service's own text there is not trusted.
ln -s /etc/passwd /var/lib/edgecall/update-request
step gone until_true [ ! -L /var/lib/edgecall/update-request ]
step link-not-followed sh -c 'head -c 4 /etc/passwd; echo'

echo secret > /tmp/token
step bridge node /test/edgecall.cjs bridge install --gateway "$(cat /tmp/served/url)" --token-file /tmp/token
step bridge-online online bridge
step bridge-updated update_bridge
serve /test/ends.cjs 9.9.9
step bridge-bad update_bridge
step bridge-after online bridge

step off node /test/newer.cjs agent install --no-auto-update
step timer-off systemctl is-enabled edgecall-agent-update.timer
step purge sh -c 'edgecall agent uninstall --purge && edgecall bridge uninstall --purge'
nothing_left
step journal journalctl -u 'edgecall-*' --no-pager -o cat
