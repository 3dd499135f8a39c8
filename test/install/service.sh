# Runs as root in a machine of its own (machine.ts): installs the agent as a service, and uninstalls it.
. /repo/test/install/steps.sh

is_starting() { [ "$(systemctl show edgecall-agent -p SubState --value)" = start ]; }
is_no_longer_starting() { ! is_starting; }
update_ends() {
  wait "$updating"
  code=$?
  cat /tmp/hangs
  return "$code"
}
call() { timeout 25 node /repo/test/install/call.ts "$@"; }

broker
unit_says agent ""

step refused-settings node /test/edgecall.cjs agent install --settings /test/wrong.toml
began=$(date +%s%N)
step install node /test/edgecall.cjs agent install --settings /test/agent.toml
step milliseconds echo $((($(date +%s%N) - began) / 1000000))
online_or_end agent
step status edgecall agent status --json
step doctor edgecall agent doctor
step modes stat -c '%n %U:%G %a' /etc/edgecall /etc/edgecall/agent.toml /var/lib/edgecall /opt/edgecall/current/edgecall /run/edgecall/status.json
step sandboxed call bash '{"command":"id -u; pwd; echo written > here; cat here"}'
step unsandboxed call system_info
# systemd's socket is only for the agent: its child processes do not inherit it (02000000 is O_CLOEXEC).
step notify-fd sh -c 'pid=$(systemctl show edgecall-agent -p MainPID --value); fd=$(tr "\0" "\n" < /proc/$pid/environ | sed -n s/EDGECALL_NOTIFY_FD=//p); sed -n s/flags:.//p /proc/$pid/fdinfo/$fd'
step tunables sh -c 'nsenter -t "$(systemctl show edgecall-agent -p MainPID --value)" -m setpriv --reuid edgecall --regid edgecall --clear-groups sh -c "echo x > /proc/sys/kernel/core_pattern; echo x > /run/edgecall-proc/sys/kernel/core_pattern; echo 1 > /proc/sys/user/max_user_namespaces; echo x > /opt/edgecall/launch; cat /proc/kmsg" 2>&1'

hang agent

# A job goes on over a restart of the agent; another process of the service does not.
begin_job() {
  call bash '{"command":"touch began; while [ ! -e go ]; do sleep 0.1; done; echo the job is over","background":true}' &&
    until_true test -e /var/lib/edgecall/workspace/began
}
group="$(systemctl show edgecall-agent -p ControlGroup --value)/cgroup.procs"
leave_another() {
  for root in /sys/fs/cgroup/systemd /sys/fs/cgroup /sys/fs/cgroup/unified; do
    [ -e "$root$group" ] && procs="$root$group" && break
  done
  sh -c 'echo $$ > "$0" && exec setpriv --reuid edgecall --regid edgecall --clear-groups sleep 1000' "$procs" &
  left=$!
  until_true grep -qx "$left" "$procs"
}
another_is_killed() {
  wait "$left"
  [ $? = 137 ]
}
job_ends() {
  ! grep -q '"ended"' /var/lib/edgecall/jobs/*/job.json || return 1
  touch /var/lib/edgecall/workspace/go
  until_true grep -q '"ended"' /var/lib/edgecall/jobs/*/job.json && cat /var/lib/edgecall/jobs/*/out
}
step begin-job begin_job
step leave-another leave_another
step job-restart systemctl restart edgecall-agent
step job-online online agent
step another-ended another_is_killed
step job-ends job_ends

# Others work in its workspace over HTTP, within the unit.
serve() {
  printf 'laptop %064d\n' 7 > /var/lib/edgecall/serve-tokens
  chown edgecall: /var/lib/edgecall/serve-tokens
  chmod 600 /var/lib/edgecall/serve-tokens
  printf '[serve]\nenabled = true\ntoken_file = "/var/lib/edgecall/serve-tokens"\n' >> /etc/edgecall/agent.toml
  systemctl restart edgecall-agent
}
step serve serve
step serve-online online agent
step served node /repo/test/install/served.ts 'id -u; pwd; cat here'
step serve-doctor edgecall agent doctor

step update edgecall agent update /test/newer.cjs
step same-again edgecall agent update /test/newer.cjs
step not-the-sum edgecall agent update /test/edgecall.cjs --sha256 0000000000000000000000000000000000000000000000000000000000000000
step no-program edgecall agent update /test/agent.toml
step ends-at-once edgecall agent update /test/ends.cjs
step after-ends online agent
edgecall agent update /test/hangs.cjs > /tmp/hangs 2>&1 &
updating=$!
until_true is_starting
# As in hang(); at a start systemd uses the unit's new setting at once.
unit_says agent TimeoutStartSec=1
until_true is_no_longer_starting
unit_says agent ""
step hangs update_ends
step after-hangs online agent
step status-after edgecall agent status
step versions ls /opt/edgecall/versions

# A power cut after the new version's first start and before it is online: the updater is gone too.
cp -a /opt/edgecall/versions/"$(basename "$(readlink /opt/edgecall/current)")" /opt/edgecall/versions/0.0.0-broken
printf '#!/bin/sh\nexit 1\n' > /opt/edgecall/versions/0.0.0-broken/edgecall
systemctl kill -s KILL edgecall-agent
systemctl stop edgecall-agent
good="$(readlink /opt/edgecall/current)"
ln -sfn "$good" /opt/edgecall/previous
ln -sfn versions/0.0.0-broken /opt/edgecall/current
head -c 4 /dev/zero > /opt/edgecall/on-trial
step power-cut systemctl start edgecall-agent
step power-cut-online online agent
step power-cut-version [ "$(readlink /opt/edgecall/current)" = "$good" ]

systemctl stop broker
step no-broker edgecall agent doctor
step no-update edgecall agent update /test/edgecall.cjs
broker
step broker-back online agent

step reinstall node /test/edgecall.cjs agent install
step keep edgecall agent uninstall --keep
step kept ls /etc/edgecall/agent.toml /var/lib/edgecall/ledger.jsonl
step again node /test/edgecall.cjs agent install
step purge edgecall agent uninstall --purge
# The remains of an interrupted install; and no installation at all.
mkdir -p /etc/edgecall /opt/edgecall/releases && touch /etc/edgecall/agent.toml
step purge-half node /test/edgecall.cjs agent uninstall --purge
step purge-none node /test/edgecall.cjs agent uninstall --purge
nothing_left
step journal journalctl -u edgecall-agent --no-pager -o cat
