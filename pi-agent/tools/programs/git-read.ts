/**
 * Reads a repository without running any program that it names.
 *
 * A repository's settings can name programs in about twenty places (monitor, filters, diff drivers, pagers, hooks, signatures,
 * transports …), under names that cannot all be listed. So the read works on a folder of its own: it links to the
 * repository's objects and refs, and its settings file contains only the few settings that change how files and refs are
 * read. Attributes may still name a filter or driver, but none is defined.
 */

/** Settings that git needs to read files and refs; each value is a word, never a program. */
const CORE = [
  "repositoryformatversion",
  "filemode",
  "symlinks",
  "ignorecase",
  "precomposeunicode",
  "autocrlf",
  "eol",
  "quotepath",
  "sparsecheckout",
  "sparsecheckoutcone",
].join("|");
const EXTENSIONS = "objectformat|refstorage|compatobjectformat";

/** Its arguments are git's, and its exit code is git's. The `x` preserves a newline at the end of a name. */
export const READ_SCRIPT = `
none() { echo 'fatal: not a git repository' >&2; exit 128; }
W=$(pwd -P && echo x); W=\${W%x}; W=\${W%?}
[ -e "$W/.git" ] || none
G=$(GIT_DIR=$W/.git git rev-parse --absolute-git-dir && echo x) || exit 128; G=\${G%x}; G=\${G%?}
C=$(GIT_DIR=$G git rev-parse --git-common-dir && echo x) || exit 128; C=\${C%x}; C=\${C%?}
C=$(cd -- "$G" && cd -- "$C" && pwd -P && echo x) || exit 128; C=\${C%x}; C=\${C%?}
T=$(mktemp -d) || exit 128
trap 'rm -rf -- "$T"' EXIT
mkdir "$T/info" "$T/logs"
for part in objects refs packed-refs shallow reftable logs/refs info/exclude; do
  [ -e "$C/$part" ] && ln -s -- "$C/$part" "$T/$part"
done
# Copied: a look at it would write it anew. Its time is part of it: git looks into each file that is not older.
cp -- "$G/index" "$T/index" 2>/dev/null && touch -r "$G/index" -- "$T/index" || rm -f -- "$T/index"
for part in logs/HEAD info/sparse-checkout; do
  [ -e "$G/$part" ] && ln -s -- "$G/$part" "$T/$part"
done
for shared in "$G"/sharedindex.*; do
  [ -e "$shared" ] && ln -s -- "$shared" "$T/"
done
cat -- "$G/HEAD" >"$T/HEAD" || exit 128
{
  printf '[core]\\n\\tbare = false\\n'
  git config --file "$C/config" --get-regexp '^(core\\.(${CORE})|extensions\\.(${EXTENSIONS}))$' |
    sed -n 's/^\\([a-z]*\\)\\.\\([a-z]*\\) \\([A-Za-z0-9]\\{1,20\\}\\)$/[\\1]\\n\\t\\2 = \\3/p'
  git config --file "$C/config" --get-regexp '^(branch\\..*\\.(remote|merge)|remote\\..*\\.fetch)$' |
    sed -n 's/^\\(branch\\|remote\\)\\.\\([A-Za-z0-9._\\/-]\\{1,200\\}\\)\\.\\([a-z]*\\) \\([A-Za-z0-9._\\/+:*-]\\{1,400\\}\\)$/[\\1 "\\2"]\\n\\t\\3 = \\4/p'
} >"$T/config"
GIT_DIR=$T GIT_WORK_TREE=$W git "$@"
`;
