# Sourced by the scripts beside it. Each step prints "== name", its output, and its exit code; steps.ts reads that.
export PATH=/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
export NO_COLOR=1

step() {
  name="$1"
  shift
  echo "== $name"
  "$@"
  echo "= $?"
}
# Repeats a command until it exits with 0.
until_true() {
  end=$(($(date +%s) + 60))
  while [ "$(date +%s)" -lt "$end" ]; do
    "$@" > /dev/null 2>&1 && return 0
    sleep 0.1
  done
  echo "never: $*"
  return 1
}
# Lists all files of ours.
listing() { find /etc /opt /var/lib /run/edgecall* /usr/local -not -path '/opt/node*' -not -path '/etc/*-' 2>/dev/null | sort; }
nothing_left() {
  listing > /tmp/after
  step nothing-left diff /tmp/before /tmp/after
  step no-user sh -c 'diff /tmp/passwd /etc/passwd && diff /tmp/group /etc/group'
}
broker() { systemd-run --quiet --unit=broker --property=Type=exec /usr/sbin/mosquitto -c /test/mosquitto.conf; }
# SERVICE is agent or bridge in all of these functions.
main_pid() { systemctl show "edgecall-$1" -p MainPID --value; }
online() {
  until_true edgecall "$1" status && return 0
  edgecall "$1" status
  return 1
}
# When it is not online, the later steps are useless.
online_or_end() {
  online "$1" && return 0
  journalctl --no-pager -o cat -n 60
  exit 1
}
is_another() {
  now="$(main_pid "$1")"
  [ "$now" != "$2" ] && [ "$now" != 0 ]
}
unit_says() {
  mkdir -p "/etc/systemd/system/edgecall-$1.service.d"
  printf '[Service]\nRestartSec=1\n%s\n' "$2" > "/etc/systemd/system/edgecall-$1.service.d/test.conf"
  systemctl daemon-reload
}
# Only the hanging program gets a short limit. All others keep the released one, so that a loaded machine does not
# matter.
hang() {
  unit_says "$1" WatchdogSec=2
  systemctl restart "edgecall-$1"
  hung="$(main_pid "$1")"
  step watchdog kill -STOP "$hung"
  unit_says "$1" ""
  step watched until_true is_another "$1" "$hung"
  step online-again online "$1"
}

# The machine's state before anything of ours is installed.
mkdir -p /usr/local/bin /var/lib/systemd/timers
listing > /tmp/before
cp /etc/passwd /etc/group /tmp/
