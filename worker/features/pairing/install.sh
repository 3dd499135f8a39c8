#!/bin/sh
# Makes this machine a device of the edgecall gateway at @GATEWAY@
#
#   curl -fsS @GATEWAY@/install.sh | sudo sh -s -- CODE [--name ID] [--broker URL]
#
# CODE comes from the console ("Add a device"). Run again it upgrades, and keeps settings and key; then without CODE.
#   --name ID          what the device is called; its host name unless given
#   --broker URL       where its MQTT broker is, e.g. mqtt://192.168.1.2:1883; else what the console told
#   --username NAME    the broker's user
#   --password-file F  … and the file with its password
#   --auto-update      it looks for this gateway's version every night; --no-auto-update: no longer
#   --no-service DIR   no root, no systemd: everything goes into DIR, and you start it yourself
#   --with-bridge      the home's first machine, with a code for that ("Add the home's bridge"): it becomes the home's
#                      bridge, and its broker unless --broker names one
#   --address HOST     with it: how other devices reach this machine; its IPv4 address unless given
#   --bridge-token-file F  with it: the bridge shows this token, in place of a key that the code makes known
#
# All of it is functions, and the last three lines call the first: a download that was cut runs nothing.
set -eu

GATEWAY='@GATEWAY@'
PROGRAM_SHA256='@SHA256@'
NODE_VERSION='@NODE_VERSION@'
NODE_X64_SHA512='@NODE_X64_SHA512@'
NODE_ARM64_SHA512='@NODE_ARM64_SHA512@'
REGISTRY="${EDGECALL_REGISTRY:-https://registry.npmjs.org}"

main() {
  read_arguments "$@"
  umask 022
  check_machine
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  find_node
  find_bubblewrap
  [ -z "$own_broker" ] || find_mosquitto
  get_program
  if [ -n "$folder" ]; then install_into_folder; else install_service; fi
}

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "install.sh: $*"
  exit 1
}

read_arguments() {
  code='' name='' broker='' username='' password_file='' folder='' bridge='' address='' bridge_token_file='' own_broker='' has_bridge='' reached_at='' auto_update=''
  while [ $# -gt 0 ]; do
    case "$1" in
      --name | --broker | --username | --password-file | --no-service | --address | --bridge-token-file)
        [ $# -ge 2 ] || fail "$1: needs a value"
        case "$1" in
          --name) name=$2 ;;
          --broker) broker=$2 ;;
          --username) username=$2 ;;
          --password-file) password_file=$2 ;;
          --no-service) folder=$2 ;;
          --address) address=$2 ;;
          --bridge-token-file) bridge_token_file=$2 ;;
        esac
        shift 2
        ;;
      --with-bridge)
        bridge=yes
        shift
        ;;
      --auto-update | --no-auto-update)
        auto_update=$1
        shift
        ;;
      -*) fail "$1: there is no such option; the head of $GATEWAY/install.sh has them all" ;;
      *)
        [ -z "$code" ] || fail "$1: only one code is needed"
        code=$1
        shift
        ;;
    esac
  done
  [ -n "$bridge" ] || [ -z "$address$bridge_token_file" ] || fail "--address and --bridge-token-file are for --with-bridge"
  [ -z "$bridge" ] || [ -z "$folder" ] || fail "--with-bridge: bridge and broker are services; not with --no-service"
  [ -z "$auto_update" ] || [ -z "$folder" ] || fail "$auto_update: is a service's; not with --no-service"
  [ -z "$bridge_token_file" ] || [ -r "$bridge_token_file" ] || fail "--bridge-token-file: $bridge_token_file cannot be read"
}

check_machine() {
  [ "$(uname -s)" = Linux ] || fail "this is $(uname -s); the agent needs Linux"
  case "$(uname -m)" in
    x86_64 | amd64) arch=x64 node_sha512=$NODE_X64_SHA512 ;;
    aarch64 | arm64) arch=arm64 node_sha512=$NODE_ARM64_SHA512 ;;
    *) fail "this is $(uname -m); the agent needs a 64-bit system (x86_64 or arm64). On a Raspberry Pi 3 or newer, install the 64-bit Raspberry Pi OS" ;;
  esac
  # A 64-bit kernel may carry a 32-bit system, as on many a Raspberry Pi.
  [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] ||
    fail "this system is 32-bit on a 64-bit processor; the agent needs a 64-bit system: install the 64-bit Raspberry Pi OS"
  for program in curl sha256sum sha512sum tar mktemp; do
    command -v "$program" >/dev/null || fail "$program is missing; install it first"
  done
  if [ -n "$folder" ]; then
    settings=$folder/agent.toml
  else
    settings=/etc/edgecall/agent.toml
    [ "$(id -u)" = 0 ] || fail "needs root: curl -fsS $GATEWAY/install.sh | sudo sh -s -- CODE; or --no-service DIR without it"
    [ -d /run/systemd/system ] || fail "this system does not run systemd, so there can be no service; --no-service DIR installs without one"
  fi
  [ -n "$code" ] || [ -e "$settings" ] || fail "a code is needed: the console's 'Add a device' shows one"
  if [ -z "$folder" ] && [ -e /etc/edgecall/bridge.env ]; then
    has_bridge=yes
    [ ! -e /etc/systemd/system/edgecall-broker.service ] || own_broker=yes
  elif [ -n "$bridge" ]; then
    [ -n "$code" ] || fail "--with-bridge: a code is needed, by which the bridge joins"
    [ -n "$broker" ] || own_broker=yes
  fi
}

# The system's Node when it is new enough, else a pinned one of the npm registry.
find_node() {
  node=$(command -v node || true)
  if [ -n "$node" ] && [ -z "${EDGECALL_OWN_NODE:-}" ] && "$node" -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null; then
    return
  fi
  into=${folder:-/opt/edgecall-node}/node-$NODE_VERSION
  node=$into/bin/node
  [ -x "$node" ] && return
  say "Node.js $NODE_VERSION is fetched, since there is none here that is new enough (40 MB) …"
  package=node-linux-$arch
  fetch "$REGISTRY/$package/-/$package-$NODE_VERSION.tgz" "$work/node.tgz"
  printf '%s  %s\n' "$node_sha512" "$work/node.tgz" | sha512sum -c --status - ||
    fail "$package is not what it has to be; nothing was installed"
  mkdir -p "$work/node" "$into/bin"
  tar -xzf "$work/node.tgz" -C "$work/node"
  mv "$work/node/package/bin/node" "$into/bin/node.next"
  chmod 755 "$into/bin/node.next"
  "$into/bin/node.next" --version >/dev/null || fail "Node.js does not run on this system"
  mv "$into/bin/node.next" "$node"
}

# Without it the agent runs, and does not offer shell commands.
find_bubblewrap() {
  command -v bwrap >/dev/null && return
  if [ "$(id -u)" = 0 ] && [ -z "$folder" ] && command -v apt-get >/dev/null; then
    say "bubblewrap is installed, the sandbox of shell commands …"
    if apt_install bubblewrap >/dev/null 2>&1; then return; fi
  fi
  say "bubblewrap is missing: this device will not offer shell commands until it is installed"
}

find_mosquitto() {
  [ ! -x /usr/sbin/mosquitto ] || return 0
  command -v apt-get >/dev/null ||
    fail "mosquitto is missing, and there is no apt to install it with: install it to /usr/sbin, or name a broker that is there: --broker URL"
  say "mosquitto is installed, the home's broker …"
  # Its own service would take the port at once: it stays off, since a service of ours runs it.
  systemctl mask --runtime --quiet mosquitto.service 2>/dev/null
  apt_install mosquitto >"$work/apt" 2>&1 || {
    systemctl unmask --runtime --quiet mosquitto.service
    tail -n 5 "$work/apt" >&2
    fail "mosquitto could not be installed (above); nothing was changed. Or name a broker that is there: --broker URL"
  }
  systemctl unmask --runtime --quiet mosquitto.service
  systemctl disable --quiet mosquitto.service 2>/dev/null || true
}

# The lists of a new system are empty, and old ones name versions that are gone.
apt_install() {
  set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
  "$@" </dev/null || { apt-get update -qq </dev/null && "$@" </dev/null; }
}

get_program() {
  fetch "$GATEWAY/edgecall.cjs" "$work/edgecall.cjs"
  printf '%s  %s\n' "$PROGRAM_SHA256" "$work/edgecall.cjs" | sha256sum -c --status - ||
    fail "the program is not the one that this script is for; nothing was installed. Was the gateway updated just now? Then run it again"
}

fetch() {
  curl -fsSL --retry 3 --connect-timeout 20 -o "$2" "$1" || fail "$1: cannot be fetched"
}

# The code for keys: $@ is more of what it needs. Settings that are there stay.
pair() {
  [ -n "$code" ] || return 0
  set -- --gateway "$GATEWAY" --code "$code" "$@"
  [ -z "$name" ] || set -- "$@" --id "$name"
  [ -z "$broker" ] || set -- "$@" --broker "$broker"
  [ -z "$username" ] || set -- "$@" --username "$username"
  [ -z "$password_file" ] || set -- "$@" --password-file "$password_file"
  "$node" "$work/edgecall.cjs" agent pair "$@" </dev/null || exit 1
}

install_service() {
  [ -z "$own_broker" ] || start_own_broker
  # Only a code that was given for it makes this machine the bridge; one that is there is brought up to date.
  if [ -z "$bridge" ] || [ -n "$bridge_token_file" ]; then pair; else
    pair --bridge-state /var/lib/edgecall-bridge ${reached_at:+--bridge-broker "$reached_at"}
  fi
  if [ -n "$has_bridge" ]; then run bridge install ${auto_update:+"$auto_update"}; elif [ -n "$bridge" ]; then install_bridge; fi
  # After the bridge, which makes this device's login known to the broker.
  run agent install ${auto_update:+"$auto_update"}
  seen
  say "Look at it with: sudo edgecall agent status"
}

# Before the code is used: here is what can still be refused.
start_own_broker() {
  set --
  [ -z "$address" ] || set -- --address "$address"
  reached_at=$("$node" "$work/edgecall.cjs" bridge broker "$@" </dev/null) || exit 1
  [ -e "$settings" ] && return
  # For other devices it is at that address; for this one it is here.
  broker=mqtt://127.0.0.1:1883
  if [ -n "$bridge_token_file" ] && [ -z "$username" ]; then own_login; fi
}

install_bridge() {
  set --
  [ -z "$bridge_token_file" ] || set -- --gateway "$GATEWAY" --token-file "$bridge_token_file"
  if [ -n "$own_broker" ]; then set -- "$@" --own-broker; else
    set -- "$@" --broker "$broker"
    [ -z "$username" ] || set -- "$@" --username "$username"
    [ -z "$password_file" ] || set -- "$@" --password-file "$password_file"
  fi
  run bridge install "$@" ${auto_update:+"$auto_update"}
}

# A bridge with a token knows of no logins that codes make.
own_login() {
  username=${name:-$(hostname | tr -c 'A-Za-z0-9_\n-' -)}
  name=$username
  password_file=$work/password
  (umask 077 && "$node" "$work/edgecall.cjs" bridge login "$username" </dev/null >"$password_file") || exit 1
}

run() { "$node" "$work/edgecall.cjs" "$@" </dev/null || exit 1; }

# Installed is not seen: the gateway says whether it is.
seen() {
  [ -n "$code" ] || return 0
  "$node" "$work/edgecall.cjs" agent pair --gateway "$GATEWAY" --code "$code" --wait </dev/null || exit 1
}

install_into_folder() {
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  pair --into "$folder"
  mv "$work/edgecall.cjs" "$folder/edgecall.cjs.next"
  mv "$folder/edgecall.cjs.next" "$folder/edgecall.cjs"
  say "Installed. Start it with:"
  printf '%s %s agent run --config %s\n' "$(quoted "$node")" "$(quoted "$folder/edgecall.cjs")" "$(quoted "$folder/agent.toml")"
}

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

if :; then
  main "$@"
fi
