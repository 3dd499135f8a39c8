/**
 * A POSIX script that runs a program on a machine over ssh. It confines the working directory, gives the program a clean
 * environment, and kills the whole tree when stdin ends, for whatever reason (an abort, a lost connection, the death of this
 * process).
 *
 * Arguments: a mark, the root, the working directory, the number of bytes of stdin for the program, variables as NAME=VALUE,
 * the program and its arguments. The outcome is the last line on stderr, after a NUL and with the mark, so that the
 * program's exit code cannot be confused with ours or ssh's.
 */

/** The usual program folders, for a machine of which nothing is known. */
const FAR_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Finds all processes of the run: those with the mark, their descendants, and their sessions. */
const KIN = `kin() {
  marked=$(grep -lsF -- "EDGECALL_RUN=$mark" /proc/[0-9]*/environ | cut -d/ -f3 | tr '\\n' ' ')
  cat /proc/[0-9]*/stat 2>/dev/null |
    sed -n 's/^\\([0-9]*\\) (.*) [^ZX] \\([0-9]*\\) [0-9]* \\([0-9]*\\) .*/\\1 \\2 \\3/p' |
    awk -v marked="$marked" 'BEGIN { count = split(marked, list, " "); for (i = 1; i <= count; i++) ours[list[i]] = 1 }
      { parent[$1] = $2; session[$1] = $3 }
      END { for (pid in parent) {
        up = pid
        for (n = 0; n < 100 && up > 1 && !(up in ours) && !(session[up] in ours); n++) up = parent[up]
        if (up in ours || session[up] in ours) print pid
      } }'
}`;

export const FAR_SCRIPT = `
mark=$1 root=$2 cwd=$3 bytes=$4; shift 4
tell() { printf '\\000%s %s\\n' "$mark" "$1" >&2; }
top=$(cd -P -- "$root" 2>/dev/null && pwd -P && echo x) || { tell no-cwd; exit 1; }
top=\${top%x}; top=\${top%?}
cd -P -- "$cwd" 2>/dev/null || { tell no-cwd; exit 1; }
here=$(pwd -P && echo x); here=\${here%x}; here=\${here%?}
case "$here/" in "\${top%/}"/*) ;; *) tell outside; exit 1;; esac
PATH=${FAR_PATH}; export PATH
for word do case $word in [A-Za-z_]*=*) ;; *) break;; esac; done
command -v -- "$word" >/dev/null 2>&1 || { tell no-program; exit 1; }
${KIN}
sweep() {
  tries=0
  while [ "$tries" -lt 100 ]; do
    all=$(kin); [ -n "$all" ] || return
    kill -STOP $all 2>/dev/null; all="$all $(kin)"; kill -STOP $all 2>/dev/null
    kill -KILL $all 2>/dev/null
    tries=$((tries + 1))
  done
}
exec 3<&0
{
  [ "$bytes" = 0 ] || head -c "$bytes" <&3
  exec >/dev/null
  read -r rest <&3
  sweep
} | {
  exec 3<&-
  exec 4<&0
  setsid env -i "PATH=$PATH" "HOME=$HOME" LANG=C.UTF-8 TERM=dumb "EDGECALL_RUN=$mark" "$@" <&4 4<&- &
  exec 4<&- </dev/null
  { wait "$!"; } 2>/dev/null; code=$?
  kill -KILL "-$!" 2>/dev/null
  tell "exit $code"
}
`;

/** The last line of stderr, without the mark. */
export type FarEnd =
  | { end: "exit"; code: number }
  | { end: "no-cwd" }
  | { end: "outside" }
  | { end: "no-program" };

/** Removes the last line from stderr, and passes everything before it on at once. */
export class FarEndFilter {
  readonly #start: Buffer;
  readonly #pass: (chunk: Uint8Array) => void;
  readonly #onEnd: () => void;
  #held = Buffer.alloc(0);
  end: FarEnd | undefined;

  constructor(mark: string, pass: (chunk: Uint8Array) => void, onEnd: () => void) {
    this.#start = Buffer.from(`\0${mark} `);
    this.#pass = pass;
    this.#onEnd = onEnd;
  }

  add(chunk: Uint8Array): void {
    if (this.end) return;
    this.#held = Buffer.concat([this.#held, chunk]);
    const at = this.#held.indexOf(this.#start);
    if (at >= 0) {
      const line = this.#held.subarray(at + this.#start.length);
      const newline = line.indexOf("\n");
      this.#let(at);
      if (newline < 0) return;
      this.end = parseEnd(line.subarray(0, newline).toString());
      if (this.end) this.#onEnd();
      return;
    }
    // Text has no NUL. One near the end may be ours, with the rest still to come.
    const nul = this.#held.lastIndexOf(0);
    const mayBe =
      nul >= 0 && this.#start.subarray(0, this.#held.length - nul).equals(this.#held.subarray(nul));
    this.#let(mayBe ? nul : this.#held.length);
  }

  #let(bytes: number): void {
    if (bytes > 0) this.#pass(this.#held.subarray(0, bytes));
    this.#held = this.#held.subarray(bytes);
  }
}

function parseEnd(line: string): FarEnd | undefined {
  const code = /^exit (\d{1,3})$/.exec(line)?.[1];
  if (code !== undefined) return { end: "exit", code: Number(code) };
  return line === "no-cwd" || line === "outside" || line === "no-program" ? { end: line } : undefined;
}
