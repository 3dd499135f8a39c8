/** An agent's login at the home's own broker: the agent makes the password, and only its hash leaves the device. */
import { z } from "../protocol/parse.ts";

/**
 * Rounds of PBKDF2: Mosquitto's default. The password has 256 random bits, so more rounds add no safety. A device may not
 * choose another number, because the broker computes that many rounds at each connect.
 */
export const LOGIN_ROUNDS = 101;

/**
 * A hash in Mosquitto's form, with 12 bytes of salt and 64 bytes of hash. It becomes a line of the broker's password file,
 * so the pattern allows neither a line break nor a colon.
 */
export const BrokerLogin = z
  .string()
  .check(
    z.regex(
      /^\$7\$101\$[A-Za-z0-9+/]{16}\$[A-Za-z0-9+/]{85}[AQgw]==$/,
      "expected Mosquitto's hash of a password, $7$101$salt$hash",
    ),
  );
