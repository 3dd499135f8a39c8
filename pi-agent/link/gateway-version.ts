/** The version of this agent's gateway, and whether the two fit. It goes to the log, and from there to `status` and `doctor`. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { Log } from "@edgecall/node/log.ts";

/** The log's event. It has `version`, and `error` when the two do not fit. */
export const GATEWAY_VERSION = "gateway.version";

/** Numbers are exact up to here: a clock in the year 2180. */
const ABOVE_MAX = 2 ** 52 + 2 ** 51;

/** The payload of a `gateway` command. The pattern keeps a stranger's text out of the log and terminals. */
const GatewayPayload = z.looseObject({
  version: z.string().check(z.regex(/^[A-Za-z0-9.+-]{1,64}$/)),
  /** The features of the gateway and of this agent's bridge beyond the first version. */
  features: z._default(z.array(z.string().check(z.maxLength(64))).check(z.maxLength(64)), []),
  /** Messages of this agent count only with numbers above this one. */
  above: z.optional(z.int().check(z.minimum(0), z.maximum(ABOVE_MAX))),
});

export class GatewayVersion {
  readonly #log: Log;
  #known: string | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes the command's payload. It comes with every connection of the bridge; only changes are logged. */
  onCommand(payload: unknown): { features: readonly string[]; above?: number | undefined } {
    const read = check(GatewayPayload, payload);
    if (!read.ok) {
      this.#log("warn", "gateway.unreadable", { error: read.error });
      return { features: [] };
    }
    const { version, features, above } = read.value;
    if (version !== this.#known) this.#change(version);
    return { features, above };
  }

  #change(version: string): void {
    this.#known = version;
    const error = versionProblem("agent", VERSION, version);
    this.#log(error === undefined ? "info" : "error", GATEWAY_VERSION, {
      version,
      ...(error !== undefined && { error }),
    });
  }
}
