/** A gateway that welcomes the bridge with the token `secret`, for a machine without one: prints its address, and runs. */
import { PlayedHome } from "../../bridge/testkit/home.ts";

console.log(await new PlayedHome().start());
