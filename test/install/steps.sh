# Read by the scripts beside it. Each step prints "== name", what it did, and its exit code; steps.ts reads that.
export PATH=/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
export NO_COLOR=1

step() {
  name="$1"
  shift
  echo "== $name"
  "$@"
  echo "= $?"
}
# What there is of ours, or is left of it.
listing() { find /etc /opt /var/lib /run/edgecall* /usr/local -not -path '/opt/node*' -not -path '/etc/*-' 2>/dev/null | sort; }
broker() { systemd-run --quiet --unit=broker --property=Type=exec /usr/sbin/mosquitto -c /test/mosquitto.conf; }
# SERVICE is agent or bridge in all of these.
main_pid() { systemctl show "edgecall-$1" -p MainPID --value; }
online() {
  for i in $(seq 1 400); do
    edgecall "$1" status > /dev/null && return 0
    sleep 0.1
  done
  edgecall "$1" status
  return 1
}
another_pid() {
  for i in $(seq 1 300); do
    now="$(main_pid "$1")"
    [ "$now" != "$2" ] && [ "$now" != 0 ] && return 0
    sleep 0.1
  done
  return 1
}
# Short where something has to run out of time, and as shipped everywhere else: a loaded machine must not decide.
unit_says() {
  mkdir -p "/etc/systemd/system/edgecall-$1.service.d"
  printf '[Service]\nRestartSec=1\n%s\n' "$2" > "/etc/systemd/system/edgecall-$1.service.d/test.conf"
  systemctl daemon-reload
}
