/** A fake gateway that accepts a bridge with the token `secret`. It prints its address and runs. */
import { PlayedHome } from "../../bridge/testkit/home.ts";

console.log(await new PlayedHome().start());
