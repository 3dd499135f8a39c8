/** The options of a bench's command line, told in words. */
import { type ParseArgsConfig, parseArgs } from "node:util";

const EXIT_USAGE = 2;

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Ends the process for `--help`, with `usage`, and for an option that there is not. */
export function readOptions<const T extends Options>(usage: string, options: T) {
  if (process.argv.includes("--help") || process.argv.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(EXIT_USAGE);
  }
}
