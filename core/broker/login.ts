/** An agent's login at the home's own broker: the agent makes the password, and only its hash leaves the device. */
import { z } from "../protocol/parse.ts";

/**
 * Rounds of PBKDF2, Mosquitto's own number: the password is 256 random bits, which no number makes safer. And no other
 * number is taken from a device, since each connect would make the broker count to it.
 */
export const LOGIN_ROUNDS = 101;

/**
 * Mosquitto's form, with 12 bytes of salt and 64 of hash. It becomes a line of the broker's file, so nothing but this:
 * no line break, no colon.
 */
export const BrokerLogin = z
  .string()
  .check(
    z.regex(
      /^\$7\$101\$[A-Za-z0-9+/]{16}\$[A-Za-z0-9+/]{85}[AQgw]==$/,
      "expected Mosquitto's hash of a password, $7$101$salt$hash",
    ),
  );
