# Run as root in a machine of its own (machine.ts) by trial.ts: what a new user does, with real programs, over loopback.
# Each step prints "== name", what it did, its exit code and how many milliseconds it took.
export PATH=/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
export NO_COLOR=1
GATEWAY=http://127.0.0.1:8787
mkdir -p /usr/local/bin /var/lib/gateway

step() {
  name="$1"
  shift
  echo "== $name"
  began=$(date +%s%N)
  "$@"
  echo "= $? after $((($(date +%s%N) - began) / 1000000)) ms"
}
api() {
  path="$1"
  shift
  curl -fsS -H "Authorization: Bearer $OWNER" -H 'Content-Type: application/json' "$@" "$GATEWAY$path"
}
until_true() {
  for _ in $(seq 1 200); do
    "$@" > /dev/null 2>&1 && return 0
    sleep 0.1
  done
  echo "never: $*"
  return 1
}
field() { node -e 'let t="";process.stdin.on("data",(c)=>t+=c).on("end",()=>console.log(JSON.parse(t)[process.argv[1]]))' "$1"; }
is_online() { api /v1/agents/"$1" | grep -q '"online":true'; }
is_offline() { api /v1/agents/"$1" | grep -q '"online":false'; }
has_answer() { api /v1/agents/"$1"/commands -d '{"command":"ping"}' | grep -q '"report_type":"result"'; }
code() { api /v1/pairings -d "$1" | field code; }
install_as() { curl -fsS "$GATEWAY/install.sh" | sh -s -- "$@"; }
start() { # NAME COMMAND…, as a service of the machine
  unit="$1"
  shift
  systemd-run --quiet --unit="$unit" --property=WorkingDirectory=/repo --property=EnvironmentFile=/trial.env "$@"
}
gateway() { start gateway /opt/node/bin/node local/worker.ts; }
bridge() { start bridge /opt/node/bin/node bridge/main.ts; }
broker() { start broker /usr/sbin/mosquitto -c /test/mosquitto.conf; }
gone() { systemctl stop "$1"; systemctl reset-failed "$1" 2> /dev/null; return 0; }

. /trial.env
export OWNER
broker
gateway
step gateway until_true curl -fsS "$GATEWAY/healthz"
if ! curl -fsS "$GATEWAY/healthz" > /dev/null; then
  journalctl --no-pager -o cat -n 40 -u gateway
  exit 1
fi
bridge
BROKER='{"broker":{"url":"mqtt://127.0.0.1:1883"}}'

CODE=$(code "$BROKER")
step pair-service install_as "$CODE" --name eye
step online is_online eye
step modes stat -c '%n %U:%G %a' /etc/edgecall/agent.toml /var/lib/edgecall /var/lib/edgecall/key.json /var/lib/edgecall/gateway.json
step first-answer has_answer eye
sha256sum /var/lib/edgecall/key.json /etc/edgecall/agent.toml > /tmp/kept
step upgrade install_as
step kept sha256sum --quiet -c /tmp/kept
step online-after-upgrade until_true is_online eye

SECOND=$(code "$BROKER")
install_as "$SECOND" --name ear --no-service /srv/ear > /tmp/start
start ear sh -c "exec $(cat /tmp/start)"
step second-device until_true is_online ear

for part in gateway bridge broker; do
  gone $part
  $part
  step "$part-restarted" until_true has_answer eye
  step "$part-restarted-second" until_true has_answer ear
done
systemctl restart edgecall-agent
step device-restarted until_true has_answer eye
gone broker
rm -rf /var/lib/mosquitto
broker
step broker-replaced until_true has_answer eye

api /v1/agents/ear/key -X DELETE
step revoked until_true is_offline ear
REPLACE=$(code '{"agent":"ear"}')
gone ear
install_as "$REPLACE" --no-service /srv/ear > /tmp/start
start ear sh -c "exec $(cat /tmp/start)"
step let-in-again until_true has_answer ear
journalctl --no-pager -o cat -n 40 -u edgecall-agent -u gateway -u bridge > /result/journal
