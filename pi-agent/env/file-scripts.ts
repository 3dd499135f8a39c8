/**
 * A POSIX script that does a file operation where the files are. All values are arguments; none is inserted into its text.
 * It changes to the folder, checks where it is (`pwd -P`), and works on a name in it. So a change on the path meanwhile
 * cannot lead it out of the roots.
 *
 * Arguments: operation; path (absolute, without `..`); `read` or `write`; 1 if the path ended with a slash; the root; the
 * number of further readable roots; 1 if git's folders may be written; those roots; then the operation's own arguments. It
 * reports failures only by its exit code.
 */

/** The script's exit codes for failures; 1 and 2 belong to the shell. */
export const SCRIPT_FAILURES = {
  101: "absent",
  102: "behind-file",
  103: "is-folder",
  104: "not-folder",
  105: "not-regular",
  106: "outside",
  107: "denied",
  108: "not-empty",
  109: "changed",
  110: "too-many-links",
  111: "incomplete",
  112: "git",
} as const;
export type ScriptFailure = (typeof SCRIPT_FAILURES)[keyof typeof SCRIPT_FAILURES];

/**
 * `readlink -m` also follows links when the end of the path is missing. busybox has only -f, which allows just the last part to
 * be missing. The `x` preserves a newline at the end of a name, which `$(…)` would drop.
 */
export const FILE_SCRIPT = `
LC_ALL=C; export LC_ALL
op=$1 path=$2 access=$3 slash=$4 root=$5 count=$6 git=$7; shift 7
absent() {
  d=$1
  while [ -n "$d" ]; do
    [ -e "$d" ] && { [ -d "$d" ] && exit 101; exit 102; }
    d=\${d%/*}
  done
  exit 101
}
real() {
  R=$(readlink -m -- "$1" 2>/dev/null && echo x) || R=$(readlink -f -- "$1" 2>/dev/null && echo x) || absent "$1"
  R=\${R%x}; R=\${R%?}
}
below() { case "$1/" in "\${2%/}"/*) return 0;; esac; return 1; }
within() {
  below "$1" "$realroot" && return 0
  [ "$access" = read ] || return 1
  i=0
  while [ "$i" -lt "$count" ]; do
    i=$((i + 1)); eval "one=\\$further_$i"
    below "$1" "$one" && return 0
    saved=$R; real "$one"; one=$R; R=$saved
    below "$1" "$one" && return 0
  done
  return 1
}
enter() {
  cd -P -- "$1" 2>/dev/null || { [ -d "$1" ] && exit 107; [ -e "$1" ] && exit 104; absent "$1"; }
  W=$(pwd -P && echo x); W=\${W%x}; W=\${W%?}
  [ "$W" = "$1" ] || exit 109
}
i=0
for one do i=$((i + 1)); [ "$i" -gt "$count" ] || eval "further_$i=\\$one"; done
shift "$count"
part() { [ "$c" = "$1" ] || [ -e "$p/$1" ] || [ -L "$p/$1" ]; }
isgit() {
  p=$1
  while [ "$p" != "$realroot" ] && [ -n "$p" ]; do
    c=\${p##*/}
    case $c in .[gG][iI][tT]|[gG][iI][tT]~1) return 0;; esac
    p=\${p%/*}
    part HEAD && part objects && part refs && return 0
  done
  return 1
}
nogit() { [ "$git" = 1 ] || ! isgit "$1" || exit 112; }
split() { D=\${1%/*}; B=./\${1##*/}; D=\${D:-/}; }
real "$root"; realroot=$R
real "$path"; N=$R
below "$path" "$root" || within "$path" || exit 106
within "$N" || exit 106
[ "$slash" = 1 ] && [ -e "$N" ] && [ ! -d "$N" ] && exit 104
case $op in
canonical) printf %s "$N" ;;
target)
  if isgit "$N"; then printf g; else printf n; fi
  if [ "\${N#"\${realroot%/}"}" = "\${path#"\${root%/}"}" ]; then printf n; else printf l; fi
  printf %s "$N" ;;
stat)
  if [ -d "$N" ]; then enter "$N"; exec stat -c '%f %s %Y %y' -- .; fi
  split "$N"
  [ -d "$D" ] || absent "$N"
  enter "$D"
  if [ ! -e "$B" ] || [ -L "$B" ]; then
    cd /; split "$path"; real "$D"; within "$R" || exit 106
    enter "$R"; [ -L "$B" ] || exit 101
  fi
  exec stat -c '%f %s %Y %y' -- "$B" ;;
read)
  [ -d "$N" ] && exit 103
  split "$N"; [ -d "$D" ] || absent "$N"
  enter "$D"
  [ -L "$B" ] && exit 110
  [ -e "$B" ] || exit 101
  [ -f "$B" ] || exit 105
  [ -r "$B" ] || exit 107
  exec 3<"$B"
  at=$(readlink /proc/self/fd/3 && echo x); at=\${at%x}; at=\${at%?}
  [ "$at" = "$N" ] || [ "$at" = "$N (deleted)" ] || exit 109
  [ -f /proc/self/fd/3 ] || exit 105
  if [ "$2" = all ]; then exec tail -c "+$(($1 + 1))" <&3; fi
  tail -c "+$(($1 + 1))" <&3 | head -c "$2" ;;
write)
  [ -d "$N" ] && exit 103
  nogit "$N"
  [ -z "$4" ] || [ "$4" = "$N" ] || exit 109
  split "$N"; enter "$D"
  [ -L "$B" ] && exit 110
  temp=./$1
  if [ -e "$B" ]; then
    [ -f "$B" ] || exit 105
    # Another content does not keep the right to run as the file's owner.
    mode=$(printf %o $((0$(stat -c %a -- "$B") & 0777))) owner=$(stat -c %u:%g -- "$B")
  else
    mode=$2 owner=
    [ "$mode" = umask ] && mode=$(printf %o $((0666 & ~0$(umask))))
  fi
  [ -w . ] || exit 107
  trap 'rm -f -- "$temp"' EXIT
  ( umask 077; set -C; cat >"$temp" ) || exit 111
  [ "$(wc -c <"$temp")" -eq "$3" ] || exit 111
  [ -n "$owner" ] && chown "$owner" "$temp" 2>/dev/null
  chmod "$mode" "$temp" || exit 111
  sync "$temp" 2>/dev/null
  mv -f -T -- "$temp" "$B" || { [ -d "$B" ] && exit 103; exit 107; }
  sync . 2>/dev/null
  trap - EXIT; exit 0 ;;
discard) split "$N"; enter "$D"; rm -f -- "./$1" ;;
list)
  [ -d "$N" ] || { [ -e "$N" ] && exit 104; absent "$N"; }
  enter "$N"
  [ -r . ] || exit 107
  for name in * .*; do
    case $name in .|..) continue;; esac
    if [ -L "./$name" ]; then kind=l
    elif [ -f "./$name" ]; then kind=f
    elif [ -d "./$name" ]; then kind=d
    elif [ -e "./$name" ]; then kind=o
    else continue; fi
    printf '%s%s\\000' "$kind" "$name"
  done ;;
mkdir)
  nogit "$N"
  [ -z "$1" ] || [ -e "$N" ] || [ "\${1%/*}" = "$N" ] || exit 109
  enter "$realroot"
  rest=\${N#"\${realroot%/}"}; rest=\${rest#/}
  while [ -n "$rest" ]; do
    name=./\${rest%%/*}
    case $rest in */*) rest=\${rest#*/};; *) rest=;; esac
    if [ ! -d "$name" ]; then
      [ -e "$name" ] && exit 104
      mkdir -- "$name" 2>/dev/null || [ -d "$name" ] || exit 107
    fi
    enter "\${W%/}/\${name#./}"
  done ;;
remove)
  [ -z "$1" ] || [ "$1" = "$N" ] || exit 109
  split "$path"; real "$D"; within "$R" || exit 106
  nogit "\${R%/}/\${B#./}"
  enter "$R"
  [ -z "$1" ] || [ -L "$B" ] || [ "\${R%/}/\${B#./}" = "$1" ] || exit 109
  if [ -d "$B" ] && [ ! -L "$B" ]; then
    rmdir -- "$B" 2>/dev/null || { [ -w . ] || exit 107; exit 108; }
  else
    [ -e "$B" ] || [ -L "$B" ] || exit 101
    rm -f -- "$B" 2>/dev/null || exit 107
  fi ;;
esac
`;
