/** `edgecall completion` prints a script that completes our commands and options, made from their table. */
import { type Command, type CommandCall, EXIT, UsageError } from "../command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** @returns the command that prints the script for `commands` */
export function completionOf(commands: readonly Command[]) {
  return async ({ positionals, io }: CommandCall): Promise<number> => {
    const shell = SHELLS.find((one) => one === positionals[0]);
    if (!shell || positionals.length > 1) throw new UsageError(`takes one of ${SHELLS.join(", ")}`);
    io.out(completionScript(shell, commands));
    return EXIT.ok;
  };
}

/** @returns a script for the shell to read */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

/** The words that may come next, each with its description. */
type Choices = { after: string; words: Array<{ word: string; about: string }> };

/** The first words of groups of commands: "agent", "bridge". */
function groupsOf(commands: readonly Command[]): string[] {
  return [...new Set(commands.flatMap(({ name }) => name.split(" ").slice(0, -1)))];
}

/** The candidates after "", after each group, and after each command. */
function choices(commands: readonly Command[]): Choices[] {
  const groups = ["", ...groupsOf(commands)];
  const byGroup = groups.map((group): Choices => {
    const within = commands.filter(({ name }) => name.split(" ").slice(0, -1).join(" ") === group);
    const words = within.map(({ name, about }) => ({ word: name.split(" ").at(-1) ?? name, about }));
    const below = group === "" ? groups.slice(1).map((word) => ({ word, about: `${word} …` })) : [];
    return { after: group, words: [...words, ...below] };
  });
  const byCommand = commands.map(
    ({ name, options }): Choices => ({
      after: name,
      words: [
        ...Object.entries(options).map(([option, { about }]) => ({ word: `--${option}`, about })),
        ...(name === "completion" ? SHELLS.map((word) => ({ word, about: word })) : []),
        { word: "--help", about: "show this command's help" },
      ],
    }),
  );
  return [...byGroup, ...byCommand];
}

/** The words before the cursor that are not options name the command. */
function bash(commands: readonly Command[]): string {
  const cases = choices(commands)
    .map(
      ({ after, words }) =>
        `    ${quoted(after)}) words=${quoted(words.map(({ word }) => word).join(" "))} ;;`,
    )
    .join("\n");
  const patterns = groupsOf(commands)
    .map((group) => `${group} | '${group} '*`)
    .join(" | ");
  return `# edgecall: source <(edgecall completion bash)
_edgecall() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in ${patterns}) ;; *) path="\${path%% *}" ;; esac
  case "$path" in
${cases}
    *) return 0 ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _edgecall edgecall
`;
}

function zsh(commands: readonly Command[]): string {
  const cases = choices(commands)
    .map(({ after, words }) => {
      const described = words.map(({ word, about }) => quoted(`${word.replaceAll(":", "\\:")}:${about}`));
      return `    ${quoted(after)}) words_=(${described.join(" ")}) ;;`;
    })
    .join("\n");
  return `#compdef edgecall
# edgecall: source <(edgecall completion zsh)
_edgecall() {
  local -a words_ before
  before=(\${(@)words[2,CURRENT-1]:#-*})
  [[ "$before[1]" == (${groupsOf(commands).join("|")}) ]] || before=(\${before[1]})
  case "\${(j: :)before}" in
${cases}
    *) _files; return ;;
  esac
  _describe edgecall words_ || _files
}
compdef _edgecall edgecall
`;
}

function fish(commands: readonly Command[]): string {
  const lines = choices(commands).flatMap(({ after, words }) =>
    words.map(({ word, about }) => {
      const option = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c edgecall -n ${quoted(`__edgecall_after ${after}`.trim())} ${option} -d ${quoted(about)}`;
    }),
  );
  return `# edgecall: edgecall completion fish | source
function __edgecall_after
    set -l before (string match -v -- '-*' (commandline -opc)[2..-1])
    contains -- "$before[1]" ${groupsOf(commands).join(" ")}; or set before $before[1]
    test "$before" = "$argv"
end
${lines.join("\n")}
`;
}

/** Quotes any text for a shell. All our shells accept '…'. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
