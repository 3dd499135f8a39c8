/** Makes the arguments of a skill's program in EvoClaw's form, so that existing binaries run unchanged. */
import type { Value } from "./skill-file.ts";

/** Linux' limit for a single argument (MAX_ARG_STRLEN includes the final NUL). */
export const ARGUMENT_MAX_BYTES = 128 * 1024 - 1;

/** @param input in the order of the tool's parameters */
export function argumentsOf(name: string, input: Readonly<Record<string, Value | undefined>>): string[] {
  const option = (key: string) => (input[key] === undefined ? [] : [`--${key}`, String(input[key])]);
  switch (name) {
    case "read":
      return [...option("path"), ...option("offset"), ...option("limit")];
    case "bash":
      return input.command === undefined ? [] : ["-c", String(input.command)];
    case "write":
      return [...option("path"), ...(input.content === undefined ? [] : [String(input.content)])];
    default:
      return Object.keys(input).flatMap(option);
  }
}

/** Returns why the kernel would refuse the arguments, as a text for the model. */
export function argumentProblem(args: readonly string[]): string | undefined {
  if (args.some((one) => one.includes("\0"))) return "an argument has a NUL character in it";
  const longest = Math.max(0, ...args.map((one) => Buffer.byteLength(one)));
  return longest > ARGUMENT_MAX_BYTES
    ? `an argument has ${longest} bytes; at most ${ARGUMENT_MAX_BYTES} are possible`
    : undefined;
}
