/** What gateway this agent has, and whether its program fits: for its log, and through that for `status` and `doctor`. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { Log } from "@edgecall/node/log.ts";

/** The log's event, with `version`, and `error` when the two do not fit. */
export const GATEWAY_VERSION = "gateway.version";

/** Payload of a `gateway` command. No stranger's text gets into the log, or to a terminal, from here. */
const Told = z.looseObject({ version: z.string().check(z.regex(/^[A-Za-z0-9.+-]{1,64}$/)) });

export class GatewayVersion {
  readonly #log: Log;
  #known: string | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** It comes with every connection of the bridge, and is logged when it is news. */
  told(payload: unknown): void {
    const told = check(Told, payload);
    if (!told.ok) this.#log("warn", "gateway.unreadable", { error: told.error });
    else if (told.value.version !== this.#known) this.#is(told.value.version);
  }

  #is(version: string): void {
    this.#known = version;
    const error = versionProblem("agent", VERSION, version);
    this.#log(error === undefined ? "info" : "error", GATEWAY_VERSION, {
      version,
      ...(error !== undefined && { error }),
    });
  }
}
