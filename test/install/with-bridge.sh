# Runs as root in a machine of its own (machine.ts): makes a home's first machine by one command, with the gateway.
. /repo/test/install/steps.sh
. /test/gateway.env
export OWNER
GATEWAY=http://127.0.0.1:8787
URL=mqtt://127.0.0.1:1883

api() {
  path="$1"
  shift
  curl -fsS -H "Authorization: Bearer $OWNER" -H 'Content-Type: application/json' "$@" "$GATEWAY$path"
}
code() { api /v1/device-codes -d "${1:-{\}}" | node -e 'let t="";process.stdin.on("data",(c)=>t+=c).on("end",()=>console.log(JSON.parse(t).code))'; }
is_online() { api "/v1/agents/$1" | grep -q '"online":true'; }
has_answer() { api "/v1/agents/$1/commands" -d '{"command":"ping"}' | grep -q '"report_type":"result"'; }
installer() { curl -fsS "$GATEWAY/install.sh" | sh -s -- "$@"; }
logs_in() { node /repo/test/install/log-in.ts "$@"; }
refused() { ! logs_in "$@"; }

mkdir -p /var/gateway
systemd-run --quiet --unit=gateway --property=WorkingDirectory=/repo --property=EnvironmentFile=/test/gateway.env /opt/node/bin/node local/worker.ts
step gateway until_true curl -fsS "$GATEWAY/healthz"

FIRST=$(code '{"agent":"@bridge"}')
broker
until_true logs_in "$URL"
step taken installer "$FIRST" --with-bridge --name eye
systemctl stop broker
step no-apt unshare -m sh -c "mount --bind /dev/null /usr/sbin/mosquitto && mount --bind /dev/null /usr/bin/apt-get && curl -fsS $GATEWAY/install.sh | sh -s -- $FIRST --with-bridge"
listing > /tmp/after
step nothing-yet diff /tmp/before /tmp/after

step first installer "$FIRST" --with-bridge --name eye --address hub.home
if ! is_online eye; then
  journalctl --no-pager -o cat -n 60
  exit 1
fi
step units systemctl is-active edgecall-agent edgecall-bridge edgecall-broker edgecall-broker-reload.path
step modes stat -c '%n %U:%G %a' /etc/edgecall/broker/mosquitto.conf /etc/edgecall/bridge.env /var/lib/edgecall-bridge/key.json /var/lib/edgecall-bridge/broker/passwords
step broker-sees sh -c 'nsenter -t "$(systemctl show edgecall-broker -p MainPID --value)" -m sh -c "ls /var/lib/edgecall-bridge /var/lib/edgecall; touch /etc/edgecall/broker/mosquitto.conf /var/lib/edgecall-bridge/broker/acl" 2>&1'
USER_ID="$(id -u edgecall-bridge)"
step own-memory setpriv --reuid "$USER_ID" --regid "$(id -g edgecall-bridge)" --clear-groups sh -c "cat /proc/$(main_pid bridge)/environ 2>&1"
step bridge-memory sh -c "nsenter -t $(main_pid broker) -U -m -S $USER_ID -G $(id -g edgecall-bridge) cat /proc/$(main_pid bridge)/environ 2>&1"

step login sh -c "edgecall bridge login zigbee > /tmp/zigbee"
step zigbee-logs-in until_true logs_in "$URL" zigbee "$(cat /tmp/zigbee)"
step stranger refused "$URL"

sha256sum /var/lib/edgecall/key.json /var/lib/edgecall-bridge/key.json /etc/edgecall/agent.toml /etc/edgecall/bridge.env > /tmp/kept
echo "# mine" >> /etc/edgecall/broker/mosquitto.conf
broker_pid=$(main_pid broker)
step upgrade installer
step kept sha256sum --quiet -c /tmp/kept
step broker-ran-on [ "$(main_pid broker)" = "$broker_pid" ]
step conf-kept grep "# mine" /etc/edgecall/broker/mosquitto.conf
step upgraded until_true has_answer eye
systemctl kill -s KILL edgecall-broker
step broker-back until_true has_answer eye

cp /opt/edgecall/current/edgecall.cjs /tmp/
step agent-gone edgecall agent uninstall --purge
step bridge-gone edgecall bridge uninstall --purge
# The state after an interrupted install.
mkdir -p /etc/edgecall/broker && touch /etc/edgecall/broker/mosquitto.conf
step half-gone node /tmp/edgecall.cjs bridge uninstall --purge
nothing_left

# Another machine of the same home replaces it, with an existing broker.
broker
until_true logs_in "$URL"
THIRD=$(code '{"agent":"@bridge"}')
step elsewhere installer "$THIRD" --with-bridge --name ear --broker "$URL"
step elsewhere-answer until_true has_answer ear
step elsewhere-units systemctl is-active edgecall-agent edgecall-bridge
step no-broker-made test ! -e /etc/systemd/system/edgecall-broker.service
step journal journalctl -u edgecall-bridge -u edgecall-broker -u edgecall-broker-reload --no-pager -o cat
