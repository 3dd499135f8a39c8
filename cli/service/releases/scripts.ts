/** Two small programs beside the versions. No update replaces them: they must work when a new version does not. */

/**
 * Opens systemd's notification socket, which Node cannot, and becomes the program, with the same process id. It is in Perl,
 * which every Debian system has.
 */
export const LAUNCH = `#!/usr/bin/perl
# Becomes the program in its arguments; systemd's notification socket is its descriptor EDGECALL_NOTIFY_FD.
use strict;
use Fcntl;
use Socket;
if (my $address = delete $ENV{NOTIFY_SOCKET}) {
  $address =~ s/^@/\\0/;
  socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
  connect($socket, sockaddr_un($address)) or die "connect: $!";
  fcntl($socket, F_SETFD, 0) or die "fcntl: $!";
  $ENV{EDGECALL_NOTIFY_FD} = fileno($socket);
  exec @ARGV;
}
exec @ARGV;
die "$ARGV[0]: $!";
`;

/**
 * The file `on-trial` exists from an update until the new version was online. It has "new" before the first start. Anything
 * else (even a file torn by a power cut) means that a start has failed, and the version before comes back.
 * `state-copy` names the state and its copy, a line each: the version before cannot read what the new one wrote there.
 */
export const TRIAL = `#!/bin/sh
# "begin" before each start of the service, "passed" once it is ready; see on-trial, made by "edgecall … update".
set -eu
cd "$(dirname "$0")"
[ -e on-trial ] || exit 0
case "$1" in
  begin)
    if [ "$(cat on-trial)" = new ]; then
      echo started > on-trial.next
      mv -T on-trial.next on-trial
    elif [ -e previous/edgecall ]; then
      if [ -e state-copy ]; then
        state=$(sed -n 1p state-copy)
        copy=$(sed -n 2p state-copy)
        if [ -e "$copy" ]; then
          newer=$state-newer
          n=2
          while [ -e "$newer" ]; do newer=$state-newer-$n; n=$((n + 1)); done
          [ ! -e "$state" ] || mv -T "$state" "$newer"
          mv -T "$copy" "$state"
        fi
      fi
      readlink current > rolled-back
      ln -sfn "$(readlink previous)" current.next
      mv -T current.next current
      rm -f on-trial state-copy
      echo "the new version did not come online: back to $(readlink current)" >&2
    fi
    ;;
  passed)
    rm -f on-trial rolled-back state-copy
    ;;
esac
sync .
`;
